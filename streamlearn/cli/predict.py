"""`streamlearn predict`: label sequences with a checkpoint."""

import sys
from typing import Annotated, Literal

import typer

from streamlearn.cli.options import CheckpointPath

Source = Annotated[
    str, typer.Argument(help="JSON Lines or column file; - for standard input.", metavar="FILE|-")
]
Output = Annotated[
    Literal["json", "columns"],
    typer.Option("--output", help="JSON Lines, or the input's columns and the label."),
]


def predict(checkpoint: CheckpointPath, file: Source, output: Output = "json") -> None:
    """Label the sequences of a file; labels that it has are ignored.

    With columns out, labels that the file has stay before the predicted ones, as conlleval reads them.
    """
    from rich.console import Console

    from streamlearn.app.prediction import predictions
    from streamlearn.cli.refusals import Refusals
    from streamlearn.errors import RecordError
    from streamlearn.stream.writing import to_columns, to_json_line

    write = to_json_line if output == "json" else to_columns
    refusals = Refusals(Console(stderr=True))
    for located, labels in predictions(checkpoint, file, refusals):
        try:
            sys.stdout.write(write(located.example, labels))
        except RecordError as error:
            refusals(RecordError(error.reason, f"{located.path}:{located.line}: {error}"))
        if file == "-":
            sys.stdout.flush()
    refusals.summarize()
    if refusals:
        raise typer.Exit(RecordError.exit_code)
