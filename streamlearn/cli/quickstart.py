"""`streamlearn quickstart`: a folder to begin with."""

from pathlib import Path
from typing import Annotated, Literal

import typer

_NEXT = """\
wrote {config}, {train} and {test}

Learn from the file, without Kafka, and score the test set:

  streamlearn evaluate {config} --train {train} --test {test}

Learn from a topic. Each of the first two keeps its terminal; the third feeds the topic:

  streamlearn broker
  streamlearn run {config}
  streamlearn produce {train} --topic {topic} --create-topic 1

Label sentences with what it has learned (it saves every minute, and when Ctrl-C stops it):

  streamlearn predict state/{topic} {test}
"""


def quickstart(
    sample: Annotated[
        Literal["ner", "chunking", "address"],
        typer.Argument(help="What to learn: named entities, phrases, or parts of addresses."),
    ] = "ner",
    directory: Annotated[
        Path, typer.Option(help="Where to write the files.", metavar="DIR", show_default="here")
    ] = Path(),
) -> None:
    """Write a small data set and a configuration for it, and say how to continue.

    The sentences are generated, 4,000 to learn from and 500 others to test on. No broker is needed to begin.
    """
    from streamlearn.app.quickstart import write_quickstart

    config, train, test = write_quickstart(sample, directory)
    print(_NEXT.format(config=config, train=train, test=test, topic=sample), end="")
