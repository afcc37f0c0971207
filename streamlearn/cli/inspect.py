"""`streamlearn inspect`: what a checkpoint holds."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import Checkpoint, Json

if TYPE_CHECKING:
    from rich.console import Console

Top = Annotated[int, typer.Option("--top", min=0, help="Number of heaviest features shown per label.")]
Labels = Annotated[int, typer.Option("--labels", min=0, help="Number of labels whose features are shown.")]


def inspect(checkpoint: Checkpoint, top: Top = 8, labels: Labels = 12, as_json: Json = False) -> None:
    """Describe a checkpoint: model, offsets, counts, scores, labels and the heaviest features per label."""
    from streamlearn.app.inspect import describe
    from streamlearn.cli.console import console

    report = describe(checkpoint, top)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        _print(report, labels, console())


def _print(report: dict[str, Any], n_labels: int, terminal: "Console") -> None:
    def say(text: str) -> None:
        terminal.print(text, highlight=False, markup=False, soft_wrap=True)

    facts = dict(_facts(report))
    width = max(map(len, facts))
    for name, value in facts.items():
        say(f"{name:<{width}}  {value}")
    for row in report["positions"]:
        say(f"{row['topic']}[{row['partition']}]: next offset {row['next_offset']:,}")
    say(f"\n{len(report['labels'])} labels: {', '.join(report['labels'])}")
    for label, features in list(report["heaviest"].items())[:n_labels]:
        say(f"\n{label}")
        for name, weight in features:
            say(f"{weight:>12.4f}  {name}")


def _facts(report: dict[str, Any]) -> "Iterator[tuple[str, str]]":
    created = datetime.fromtimestamp(report["created_unix"], UTC).isoformat(timespec="seconds")
    features = report["features"]
    yield "file", report["file"]
    yield "size", f"{report['size_bytes']:,} bytes"
    yield "model", f"{report['model']} (learner {report['learner']}, streamlearn {report['app_version']})"
    yield "checkpoint", f"{report['seq']}, written {created}"
    yield "run", report["run_id"]
    yield "cluster", report["cluster_id"] or "unknown"
    yield "sequences", f"{report['sequences_seen']:,}"
    yield "features", f"{features['known']:,} of {features['capacity']:,}, refused {features['refused']:,}"
    for name, ratio in report["progressive"].items():
        yield name, f"{ratio:.4f}"
