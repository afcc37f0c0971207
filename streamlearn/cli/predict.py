"""`streamlearn predict`: label sequences with a checkpoint."""

import sys
from typing import Annotated, Literal

import typer

from streamlearn.choices import Scheme
from streamlearn.cli.options import Checkpoint

Source = Annotated[
    str, typer.Argument(help="JSON Lines or column file; - for standard input.", metavar="FILE|-")
]
Output = Annotated[
    Literal["json", "columns"],
    typer.Option("--output", help="JSON Lines, or the input's columns and the label."),
]
Marginals = Annotated[
    bool,
    typer.Option("--marginals", help="Give the probability of each label and of all (no perceptron can)."),
]
KBest = Annotated[
    int | None,
    typer.Option(
        "--k-best",
        min=1,
        max=16,
        help="Give so many of the best labellings, with scores; JSON Lines only.",
        metavar="K",
        show_default=False,
    ),
]
Constrain = Annotated[
    Scheme | None,
    typer.Option(
        "--constrain",
        help="Predict valid labellings of this scheme only. [default: labels.constrain of the model]",
        show_default=False,
    ),
]


def predict(
    checkpoint: Checkpoint,
    file: Source,
    output: Output = "json",
    marginals: Marginals = False,
    k_best: KBest = None,
    constrain: Constrain = None,
) -> None:
    """Label the sequences of a file; labels that it has are ignored.

    JSON Lines out are the records with the predicted `labels` and, where asked, `marginals` (the probability
    of each label), `probability` (of all labels together) and `alternatives` (the best labellings, the
    predicted one first, each with `labels`, `score` and, not of a perceptron, `probability`). Constraints
    hold for all of these: the probabilities of the valid labellings sum to 1.

    With columns out, labels that the file has stay before the predicted ones, as conlleval reads them, and
    marginals come before both.
    """
    from rich.console import Console

    from streamlearn.app.predict import PredictionOptions, predictions
    from streamlearn.cli.refusals import Refusals
    from streamlearn.corpus.writing import to_columns, to_json_line
    from streamlearn.errors import RecordError, UsageError

    if output == "columns" and k_best is not None and k_best > 1:
        raise UsageError(f"--k-best {k_best}: columns hold one labelling; use --output json")
    write = to_json_line if output == "json" else to_columns
    refusals = Refusals(Console(stderr=True))
    for located, prediction in predictions(
        checkpoint, file, PredictionOptions(marginals, k_best or 0, constrain), refusals
    ):
        try:
            sys.stdout.write(write(located.example, prediction))
        except RecordError as error:
            refusals(RecordError(error.reason, f"{located.path}:{located.line}: {error}"))
        if file == "-":
            sys.stdout.flush()
    refusals.summarize()
    if refusals:
        raise typer.Exit(RecordError.exit_code)
