"""A first configuration for a file of labelled sequences, and what one pass with it reaches."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.evaluate import Evaluation
from streamlearn.app.first_config import FirstConfig, fitting
from streamlearn.app.open_examples import OnRejected, TextFormat, open_examples
from streamlearn.config.load import parse_sections
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import ExampleReader
from streamlearn.corpus.input_files import STDIN, without_compression
from streamlearn.corpus.survey import Survey, survey
from streamlearn.errors import UsageError
from streamlearn.stream.record_codec import RecordCodec

# The first nine tenths are learned, the last is predicted.
_HELD_OUT = 10


@dataclass(frozen=True, slots=True)
class Begun:
    """What was written, and why.

    Attributes
    ----------
    path : the configuration.
    survey : what the file looks like.
    first : what was chosen.
    test : scores of the last tenth, as `Evaluation.test` returns; None if there are too few sequences.
    text_format : of the file, as its readers need it.
    """

    path: Path
    survey: Survey
    first: FirstConfig
    test: dict[str, Any] | None
    text_format: TextFormat


def begin(
    data: str,
    output: Path | None,
    text_format: TextFormat,
    on_rejected: OnRejected,
    say: Callable[[str], None],
) -> Begun:
    """Look at a file, and write a configuration that fits it.

    Parameters
    ----------
    output : of the configuration; by default, the name of the file in the working directory.
    say : called with a message if compiling takes long.

    Raises
    ------
    UsageError : the file cannot be used, or the output exists already.
    """
    name = _model_name(data)
    path = output or Path(f"{name}.yaml")
    if data == STDIN:
        raise UsageError("init reads a file several times; write standard input to a file first")
    if path.exists():
        raise UsageError(f"{path}: exists already; choose another file with --output")
    found, text_format = _look(data, text_format, on_rejected)
    first = fitting(name, Path(data).name, found)
    config = Config.model_validate(parse_sections(first.text(), path))
    test = None
    if found.sequences >= _HELD_OUT:
        warm_up(config, say)
        evaluation = Evaluation(config, lambda _: None, text_format)
        examples = iter(open_examples(config, [data], lambda _: None, text_format))
        evaluation.learn(islice(examples, found.sequences - found.sequences // _HELD_OUT))
        test = evaluation.score(examples)
        first = replace(first, features_known=int(evaluation.tagger.gauges()["features_known"]), test=test)
    path.write_text(first.text(), encoding="utf-8")
    return Begun(path, found, first, test, text_format)


def _look(data: str, text_format: TextFormat, on_rejected: OnRejected) -> tuple[Survey, TextFormat]:
    reader = _reader(data, text_format, lambda _: None)
    if survey(islice(reader, 1)).begins_with_names and not text_format.header:
        found = survey(_reader(data, text_format, lambda _: None))
        if found.begins_with_names:
            text_format = replace(text_format, header=True)
    reader = _reader(data, text_format, on_rejected)
    found = survey(reader)
    if not found.sequences:
        reason = _reason(data, text_format) if reader.refused else "it is empty"
        raise UsageError(f"{data}: no labelled sequence in it; {reason}")
    return found, text_format


def _reader(data: str, text_format: TextFormat, on_rejected: OnRejected) -> ExampleReader:
    return ExampleReader(
        [data],
        layout=text_format.layout(()),
        codec=RecordCodec("json"),
        encoding=text_format.encoding,
        on_refused=on_rejected,
    )


def _reason(data: str, text_format: TextFormat) -> str:
    """Return why every sequence was rejected: the fields of a row may be separated by commas."""
    layout = replace(text_format, label_column="none").layout(())
    reader = ExampleReader([data], layout=layout, encoding=text_format.encoding)
    rows = list(_rows(reader))
    for separator in (",", ";"):
        if rows and all(separator in row for row in rows):
            return f"its columns seem to be separated by {separator!r}, wanted tabs or spaces"
    return "all were rejected, for the reasons above"


def _rows(reader: ExampleReader) -> Iterator[str]:
    for located in islice(reader, 20):
        yield from (" ".join(row) for row in zip(*located.example.columns.values(), strict=True))


def _model_name(data: str) -> str:
    stem = Path(without_compression(Path(data).name)).stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:64] or "model"
