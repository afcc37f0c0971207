"""`streamlearn tune`: choose settings by cross-validation, since one pass leaves no second try."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import ConfigFile, Json, Set, Train

if TYPE_CHECKING:
    from rich.console import Console

    from streamlearn.app.tune import CrossValidation, TuningResult

Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Use the first so many sequences; 0 is all.", metavar="N")
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Parts, each of which is held out once.")]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        help="Values to try, e.g. --grid learner.rate=0.05,0.1; may be repeated. [default: by learner]",
        metavar="KEY=VALUE,…",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the assignment of sequences to folds.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Processes; all cores when not given. The result does not depend on it."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        help="Write CONFIG with the winning settings and all its comments to this file.",
        metavar="FILE",
        show_default=False,
    ),
]


def tune(
    config: ConfigFile,
    train: Train,
    limit: Limit = 10_000,
    folds: Folds = 4,
    grid: GridOption = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    set_: Set = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Choose the learner's settings by cross-validation on the first sequences of a file.

    Every fold is labelled by what one pass over the others learned, as the daemon will learn. The score is
    F1 where the labels mark spans, else token accuracy; settings that tie go by their order in the grid.
    """
    from rich.console import Console

    from streamlearn.app.build_tagger import warm_up
    from streamlearn.app.tune import CrossValidation, candidates, default_grid, first_examples, parse_grid
    from streamlearn.app.workers import available_cores
    from streamlearn.cli.refusals import Refusals
    from streamlearn.config.load import load
    from streamlearn.config.rewrite import rewritten
    from streamlearn.errors import UsageError

    overrides = set_ or []
    tried = parse_grid(grid) if grid else default_grid(load(config, overrides))
    points = candidates(config, overrides, tried)
    if output:
        # Before minutes of work, not after.
        rewritten(config, [*overrides, *points[0].settings], output)
        if output.is_dir() or not output.parent.is_dir():
            raise UsageError(f"--output {output}: a file in a directory that exists is wanted")
    errors = Console(stderr=True)
    refusals = Refusals(errors)
    examples = first_examples(points[0].config, train, limit or None, refusals)
    refusals.summarize()
    validation = CrossValidation(points, examples, folds, seed)
    for kind_of in {point.config.learner.kind: point.config for point in points}.values():
        warm_up(kind_of, errors.print)
    _watch(validation, jobs or available_cores(), errors)
    verdict = validation.verdict()
    winner = [*overrides, *verdict.trials[0].settings]
    if output:
        output.write_text(rewritten(config, winner, output), encoding="utf-8")
    if as_json:
        print(json.dumps(_report(verdict, len(examples), folds, output)))
    else:
        console = Console()
        _print_table(verdict, console)
        for remark in _remarks(verdict, tried):
            console.print(remark, highlight=False)
        # Not wrapped by the console: to be copied.
        print("--set " + " --set ".join(winner))
        if output:
            print(f"written to {output}")


def _watch(validation: "CrossValidation", processes: int, errors: "Console") -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("tuning…"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        bar = progress.add_task("", total=validation.total)
        for _ in validation.run(processes):
            progress.advance(bar)


def _print_table(verdict: "TuningResult", console: "Console") -> None:
    from rich.table import Table

    keys = [setting.partition("=")[0] for setting in verdict.trials[0].settings]
    name = {"f1": "F1", "token_accuracy": "token accuracy"}[verdict.metric]
    table = Table("", *keys, name, "sd", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for place, trial in enumerate(verdict.trials):
        values = [setting.partition("=")[2] for setting in trial.settings]
        table.add_row("" if place else "→", *values, f"{trial.mean:.4f}", f"{trial.sd:.4f}")
    console.print(table)


def _remarks(verdict: "TuningResult", grid: Any) -> list[str]:
    from streamlearn.app.tune import at_the_end

    winner, *others = verdict.trials
    remarks = []
    ties = sum(trial.mean == winner.mean for trial in others)
    if ties:
        remarks.append(f"{ties} other settings have the same score; the first of the grid was taken")
    near = len(verdict.near) - ties
    if near:
        remarks.append(
            f"{near} of {len(others)} other settings are within one standard deviation of the winner: "
            "the folds do not tell them apart"
        )
    remarks += [
        f"{key}: the winner is at the end of what was tried; a wider --grid may hold a better one"
        for key in at_the_end(grid, winner)
    ]
    return remarks


def _report(verdict: "TuningResult", sequences: int, folds: int, output: Path | None) -> dict[str, Any]:
    trials = [
        {
            "settings": dict(setting.split("=", 1) for setting in trial.settings),
            "mean": trial.mean,
            "sd": trial.sd,
            "scores": trial.scores,
        }
        for trial in verdict.trials
    ]
    return {
        "sequences": sequences,
        "folds": folds,
        "metric": verdict.metric,
        "winner": trials[0]["settings"],
        "within_one_sd": len(verdict.near),
        "trials": trials,
        "output": str(output) if output else None,
    }
