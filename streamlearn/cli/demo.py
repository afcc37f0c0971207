"""`streamlearn demo`: everything at once, on one machine and with no setup."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from streamlearn.cli.options import Json, Set


def demo(
    rate: Annotated[
        float, typer.Option(min=0, help="Sequences a second that are fed; 0 is as fast as it goes.")
    ] = 1000,
    sequences: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many sequences.", show_default="no end")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Stop after so much learning.", show_default="no end")
    ] = None,
    change: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Sequence number at which the world changes.",
            show_default="the middle; 20000 of an endless run",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="New directory in which the checkpoints are kept.",
            metavar="DIR",
            show_default="a temporary one",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the metrics; a free one is taken where it is not.")
    ] = 9464,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated world.")] = 2,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Watch the daemon learn, see its world change, and learn again; needs no setup.

    Starts an embedded, memory-only Kafka-compatible broker, a producer of sequences that a hidden Markov
    model generates, and the same daemon as `run`. In the middle another model takes over, with the same
    words and labels. Ctrl-C stops everything cleanly, a second one at once. The broker forgets its records,
    so that a state kept with --state can be inspected and predicted with, but not continued.
    """
    from rich.console import Console

    from streamlearn.demo.run_options import Plan
    from streamlearn.demo.show import Stage

    plan = Plan(rate, sequences, seconds, change, state, port, seed, set_ or [])
    summary = Stage(plan, Console(), live=not as_json).run()
    print(json.dumps(summary) if as_json else _in_words(summary, state))


def _in_words(summary: dict[str, Any], state: Path | None) -> str:
    window = summary["accuracy_window"]
    before, after, end = (
        _percent(summary[f"accuracy_{when}"]) for when in ("before_change", "after_change", "at_end")
    )
    lines = [
        f"learned {summary['sequences']:,} sequences in {summary['seconds']:.1f} s",
        f"accuracy in {window:,} sequences: before the change {before}, after {after}, end {end}",
    ]
    if state:
        lines.append(f"to see what was learned: streamlearn inspect {state}")
    return "\n".join(lines)


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.1f} %"
