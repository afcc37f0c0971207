"""`streamlearn evaluate`: learn from files in one pass, then score a test set."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import (
    ConfigFile,
    Encoding,
    FieldSeparator,
    Header,
    Json,
    LabelColumn,
    Set,
    Train,
)

if TYPE_CHECKING:
    from rich.console import Console

Test = Annotated[
    list[str] | None,
    typer.Option("--test", help="File to test on; may be repeated.", metavar="FILE", show_default=False),
]
Passes = Annotated[int, typer.Option("--passes", min=1, help="Number of passes over the training files.")]
Save = Annotated[
    str | None,
    typer.Option(
        "--save",
        help="Keep the model as a checkpoint in this directory or URL, for `predict` and others.",
        metavar="STATE",
        show_default=False,
    ),
]


def evaluate(
    config: ConfigFile,
    train: Train,
    test: Test = None,
    passes: Passes = 1,
    save: Save = None,
    label_column: LabelColumn = "auto",
    separator: FieldSeparator = "auto",
    header: Header = False,
    encoding: Encoding = "auto",
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Learn from files as the daemon learns from Kafka, then score a test set.

    Prints the progressive accuracy (each sequence is predicted before it is learned), the time from file to
    weights, and the test scores as conlleval defines them.
    """
    from streamlearn.app.build_tagger import warm_up
    from streamlearn.app.evaluate import Evaluation
    from streamlearn.app.open_examples import TextFormat
    from streamlearn.app.save_model import ModelStore
    from streamlearn.cli.console import console
    from streamlearn.cli.rejected import RejectedSequences, warning
    from streamlearn.config.load import load

    errors = console(stderr=True)
    settings = load(config, set_ or [])
    store = ModelStore(save) if save else None
    rejected = RejectedSequences(errors)
    text_format = TextFormat(label_column, separator, header, encoding)
    evaluation = Evaluation(settings, rejected, text_format, warning(errors))
    warm_up(settings, errors.print)
    with errors.status("learning…") as status:
        report: dict[str, Any] = {
            "train": evaluation.train(
                train,
                passes,
                lambda learned: status.update(
                    f"learning… {learned.standing.sequences_seen:,} sequences, recent token accuracy "
                    f"{learned.standing.progressive['accuracy/token/recent']:.4f}"
                ),
            )
        }
        status.update("testing…")
        report["test"] = evaluation.test(test) if test else None
        report["saved"] = store.save(settings, evaluation.state) if store else None
    rejected.summarize()
    if as_json:
        print(json.dumps(report))
    else:
        _print(report, console())


def _print(report: dict[str, Any], terminal: "Console") -> None:
    train, test = report["train"], report["test"]
    speed = train["tokens"] * train["passes"] / train["seconds"]
    terminal.print(
        f"learned {train['sequences']:,} sequences, {train['tokens']:,} tokens × {train['passes']} in "
        f"{train['seconds']:.2f} s ({speed:,.0f} tokens/s); progressive token accuracy "
        f"{train['progressive_token_accuracy']:.4f}"
    )
    if test is not None:
        _print_test(test, terminal)
    if report["saved"]:
        terminal.print(f"saved {report['saved']}", markup=False)


def _print_test(test: dict[str, Any], terminal: "Console") -> None:
    from rich.table import Table
    from rich.text import Text

    spans = ""
    if test["f1"] is not None:
        spans = f"; precision {test['precision']:.4f}, recall {test['recall']:.4f}, F1 {test['f1']:.4f}"
    terminal.print(
        f"tested {test['sequences']:,} sequences, {test['tokens']:,} tokens: token accuracy "
        f"{test['token_accuracy']:.4f}{spans}"
    )
    table = Table("label", "precision", "recall", "F1", "support", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for label, row in test["per_label"].items():
        ratios = (f"{row[key]:.4f}" for key in ("precision", "recall", "f1"))
        table.add_row(Text(label), *ratios, f"{row['support']:,}")
    terminal.print(table)
