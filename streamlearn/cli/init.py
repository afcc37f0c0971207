"""`streamlearn init`: a first configuration for a file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamlearn.cli.options import Encoding, FieldSeparator, Header, LabelColumn

if TYPE_CHECKING:
    from streamlearn.app.init import Begun

Data = Annotated[
    str,
    typer.Argument(help="JSON Lines, column or CoNLL-U file with labels, compressed or not.", metavar="DATA"),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Configuration file to write. [default: the name of DATA, with .yaml, in this directory]",
        metavar="CONFIG",
        show_default=False,
    ),
]

_NEXT = """\
Learn from the whole file and keep the model, then label a file with it:

  streamlearn evaluate {config} --train {data}{options} --save models/{name}
  streamlearn predict models/{name} {data}{options}

Or learn from Kafka:

  streamlearn produce {data}{options} --config {config} --create-topic 1
  streamlearn run {config}
"""


def init(
    data: Data,
    output: Output = None,
    label_column: LabelColumn = "auto",
    separator: FieldSeparator = "auto",
    header: Header = False,
    encoding: Encoding = "auto",
) -> None:
    """Look at a file of labelled sequences and write a commented configuration that fits it.

    Says what it found, and how well one pass over the first nine tenths of the file labels the last tenth.
    """
    from streamlearn.app.init import begin
    from streamlearn.app.open_examples import TextFormat
    from streamlearn.cli.console import console
    from streamlearn.cli.rejected import RejectedSequences

    errors = console(stderr=True)
    rejected = RejectedSequences(errors)
    with errors.status("reading and learning…"):
        begun = begin(
            data, output, TextFormat(label_column, separator, header, encoding), rejected, errors.print
        )
    rejected.summarize()
    print(_found(data, begun))
    print(
        _NEXT.format(
            config=shlex.quote(str(begun.path)),
            data=shlex.quote(data),
            options=_options(begun),
            name=begun.first.name,
        ),
        end="",
    )


def _found(data: str, begun: "Begun") -> str:
    from streamlearn.app.first_config import describe_scheme

    survey, first = begun.survey, begun.first
    same = len(first.columns) == len(survey.columns)
    names = first.columns if same else survey.columns
    values = (
        f"{name} ({len(facts.values):,} values)"
        for name, facts in zip(names, survey.columns.values(), strict=True)
    )
    lines = [
        f"{data}: {survey.sequences:,} sequences of {survey.shortest:,} to {survey.longest:,} tokens, "
        f"{survey.tokens:,} in total",
        f"columns: {', '.join(values) or 'none, the features are ready-made'}",
        f"labels: {len(survey.labels)} ({describe_scheme(survey, first.constrain)})",
        f"one pass over the first nine tenths labels the last tenth with {first.score}"
        if first.score
        else "too few sequences to hold a tenth out for a score",
        f"wrote {begun.path}\n",
    ]
    return "\n".join(lines)


def _options(begun: "Begun") -> str:
    wanted = begun.text_format
    options = {
        "--label-column": wanted.label_column,
        "--separator": wanted.separator,
        "--encoding": wanted.encoding,
    }
    given = "".join(f" {name} {shlex.quote(value)}" for name, value in options.items() if value != "auto")
    return given + (" --header" if wanted.header else "")
