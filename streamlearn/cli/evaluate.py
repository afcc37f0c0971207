"""`streamlearn evaluate`: learn from files in one pass, then score a test set."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import ConfigFile, Json, Set, Train

if TYPE_CHECKING:
    from rich.console import Console

Test = Annotated[
    list[str] | None,
    typer.Option("--test", help="File to test on; may be repeated.", metavar="FILE", show_default=False),
]
Passes = Annotated[int, typer.Option("--passes", min=1, help="Number of passes over the training files.")]


def evaluate(
    config: ConfigFile,
    train: Train,
    test: Test = None,
    passes: Passes = 1,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Learn from files as the daemon learns from Kafka, then score a test set.

    Prints the progressive accuracy (each sequence is predicted before it is learned), the time from file to
    weights, and the test scores as conlleval defines them.
    """
    from rich.console import Console

    from streamlearn.app.build_tagger import warm_up
    from streamlearn.app.evaluate import Evaluation
    from streamlearn.cli.rejected import RejectedSequences, warning
    from streamlearn.config.load import load

    errors = Console(stderr=True)
    settings = load(config, set_ or [])
    rejected = RejectedSequences(errors)
    evaluation = Evaluation(settings, rejected, warning(errors))
    warm_up(settings, errors.print)
    with errors.status("learning…") as status:
        report: dict[str, Any] = {
            "train": evaluation.train(
                train,
                passes,
                lambda learned: status.update(
                    f"learning… {learned.sequences_seen:,} sequences, recent token accuracy "
                    f"{learned.progressive['accuracy/token/recent']:.4f}"
                ),
            )
        }
        status.update("testing…")
        report["test"] = evaluation.test(test) if test else None
    rejected.summarize()
    if as_json:
        print(json.dumps(report))
    else:
        _print(report, Console())


def _print(report: dict[str, Any], console: "Console") -> None:
    from rich.table import Table
    from rich.text import Text

    train, test = report["train"], report["test"]
    speed = train["tokens"] * train["passes"] / train["seconds"]
    console.print(
        f"learned {train['sequences']:,} sequences, {train['tokens']:,} tokens × {train['passes']} in "
        f"{train['seconds']:.2f} s ({speed:,.0f} tokens/s); progressive token accuracy "
        f"{train['progressive_token_accuracy']:.4f}",
        highlight=False,
    )
    if test is None:
        return
    spans = ""
    if test["f1"] is not None:
        spans = f"; precision {test['precision']:.4f}, recall {test['recall']:.4f}, F1 {test['f1']:.4f}"
    console.print(
        f"tested {test['sequences']:,} sequences, {test['tokens']:,} tokens: token accuracy "
        f"{test['token_accuracy']:.4f}{spans}",
        highlight=False,
    )
    table = Table("label", "precision", "recall", "F1", "support", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for label, row in test["per_label"].items():
        ratios = (f"{row[key]:.4f}" for key in ("precision", "recall", "f1"))
        table.add_row(Text(label), *ratios, f"{row['support']:,}")
    console.print(table)
