"""`streamlearn predict`: label sequences with the model of a checkpoint."""

import sys
from typing import Annotated

import typer

from streamlearn.choices import Form, Scheme
from streamlearn.cli.options import Checkpoint, Encoding, FieldSeparator, Header, LabelColumn

Source = Annotated[
    str,
    typer.Argument(
        help="JSON Lines or column file, compressed or not; - for standard input.", metavar="FILE|-"
    ),
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
AllMarginals = Annotated[
    bool,
    typer.Option(
        "--all-marginals",
        help="Also add the probability of every label at each token (only with CRFs and JSON Lines).",
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
    all_marginals: AllMarginals = False,
    k_best: KBest = None,
    constrain: Constrain = None,
    label_column: LabelColumn = "auto",
    separator: FieldSeparator = "auto",
    header: Header = False,
    encoding: Encoding = "auto",
) -> None:
    """Label the sequences of a file; labels in the file are ignored.

    JSON Lines output repeats each record, all its keys included, with the predicted `labels` and, on request,
    `marginals` (the probability of each label), `probability` (of the whole labelling), `label_marginals`
    (the probability of every label) and `alternatives` (the best labellings, the predicted one first, each
    with `labels`, `score` and, for CRFs, `probability`). Constraints apply to all of them: the probabilities
    of the valid labellings sum to 1. In place of a record that is rejected stands a line with `rejected`, the
    reason.

    Column output keeps the columns and labels of the file and appends the predicted label, as conlleval
    reads it; marginals come before the labels. Rejected sequences are left out.
    """
    from streamlearn.app.open_examples import TextFormat
    from streamlearn.app.predict import PredictionOptions, as_text, predictions
    from streamlearn.cli.console import console
    from streamlearn.cli.rejected import RejectedSequences, warning
    from streamlearn.errors import RecordError, UsageError

    if output == "columns" and k_best is not None and k_best > 1:
        raise UsageError(f"--k-best {k_best}: columns can hold only one labelling; use --output json")
    if output == "columns" and all_marginals:
        raise UsageError("--all-marginals: columns have no room for every label; use --output json")
    errors = console(stderr=True)
    rejected = RejectedSequences(errors)
    wanted = PredictionOptions(
        "all" if all_marginals else "best" if marginals else "none", k_best or 0, constrain
    )
    text_format = TextFormat(label_column, separator, header, encoding)
    for answer in predictions(checkpoint, file, wanted, text_format, warning(errors)):
        text, error = as_text(answer, output)
        sys.stdout.write(text)
        if error:
            rejected(error)
        if file == "-":
            sys.stdout.flush()
    rejected.summarize()
    if rejected:
        raise typer.Exit(RecordError.exit_code)
