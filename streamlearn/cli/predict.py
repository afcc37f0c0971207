"""`streamlearn predict`: label sequences with the model of a checkpoint."""

import sys
from typing import Annotated

import typer

from streamlearn.choices import Form, Scheme
from streamlearn.cli.options import Checkpoint

Source = Annotated[
    str, typer.Argument(help="JSON Lines or column file; - for standard input.", metavar="FILE|-")
]
Output = Annotated[
    Form,
    typer.Option("--output", help="JSON Lines, or the input columns followed by the label."),
]
Marginals = Annotated[
    bool,
    typer.Option(
        "--marginals", help="Add the probability of each label and of the whole labelling (only with CRFs)."
    ),
]
KBest = Annotated[
    int | None,
    typer.Option(
        "--k-best",
        min=1,
        max=16,
        help="Add this many best labellings with their scores (only with JSON Lines).",
        metavar="K",
        show_default=False,
    ),
]
Constrain = Annotated[
    Scheme | None,
    typer.Option(
        "--constrain",
        help="Predict only labellings that are valid in this scheme. [default: as the model]",
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
    """Label the sequences of a file; labels in the file are ignored.

    JSON Lines output repeats each record with the predicted `labels` and, on request, `marginals` (the
    probability of each label), `probability` (of the whole labelling) and `alternatives` (the best
    labellings, the predicted one first, each with `labels`, `score` and, for CRFs, `probability`).
    Constraints apply to all of them: the probabilities of the valid labellings sum to 1.

    Column output keeps the columns and labels of the file and appends the predicted label, as conlleval
    reads it; marginals come before the labels.
    """
    from rich.console import Console

    from streamlearn.app.evaluate import with_place
    from streamlearn.app.predict import PredictionOptions, predictions
    from streamlearn.cli.rejected import RejectedSequences, warning
    from streamlearn.corpus.prediction_formats import to_columns, to_json_line
    from streamlearn.errors import RecordError, UsageError

    if output == "columns" and k_best is not None and k_best > 1:
        raise UsageError(f"--k-best {k_best}: columns can hold only one labelling; use --output json")
    write = to_json_line if output == "json" else to_columns
    errors = Console(stderr=True)
    rejected = RejectedSequences(errors)
    wanted = PredictionOptions(marginals, k_best or 0, constrain)
    for located, prediction in predictions(checkpoint, file, wanted, rejected, warning(errors)):
        try:
            sys.stdout.write(write(located.example, prediction))
        except RecordError as error:
            rejected(with_place(located, error))
        if file == "-":
            sys.stdout.flush()
    rejected.summarize()
    if rejected:
        raise typer.Exit(RecordError.exit_code)
