"""`streamlearn tune`: choose settings by cross-validation, since a stream can be learned only once."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import ConfigFile, Json, Set, Train

if TYPE_CHECKING:
    from rich.console import Console

    from streamlearn.app.tune import GridSearch, TuningResult

Limit = Annotated[
    int,
    typer.Option("--limit", min=0, help="Use only this many sequences, the first; 0 uses all.", metavar="N"),
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Number of folds; each is held out once.")]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        help="Values to try, e.g. --grid learner.rate=0.05,0.1; may be repeated. [default: depends on the "
        "learner]",
        metavar="KEY=VALUE,…",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed for the assignment of sequences to folds.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Parallel processes; they do not change the result. [default: number of cores]"
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        help="Write CONFIG with the winning settings to this file; comments are kept.",
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

    Each fold is predicted after one pass over the other folds, exactly as the daemon learns. The score is F1
    if the labels mark spans, else token accuracy; ties are broken by the order of the grid.
    """
    from streamlearn.app.tune import GridSearch
    from streamlearn.app.workers import available_cores
    from streamlearn.cli.console import console
    from streamlearn.cli.progress import progress_bar
    from streamlearn.cli.rejected import RejectedSequences

    errors = console(stderr=True)
    search = GridSearch(config, set_ or [], grid or [], output)
    rejected = RejectedSequences(errors)
    examples = search.examples(train, limit or None, rejected)
    rejected.summarize()
    validation = search.validation(examples, folds, seed, errors.print)
    with progress_bar("tuning…", validation.total, errors) as advance:
        for _ in validation.run(jobs or available_cores()):
            advance(1)
    result = validation.result()
    search.write(result)
    if as_json:
        print(json.dumps(_report(result, len(examples), folds, output)))
    else:
        _print(result, search, output)


def _print(result: "TuningResult", search: "GridSearch", output: Path | None) -> None:
    from streamlearn.cli.console import console

    terminal = console()
    _print_table(result, terminal)
    for remark in _remarks(result, search.grid):
        terminal.print(remark, highlight=False)
    # Not wrapped by the console: to be copied.
    print("--set " + " --set ".join(search.settings(result)))
    if output:
        print(f"written to {output}")


def _print_table(result: "TuningResult", terminal: "Console") -> None:
    from rich.table import Table

    keys = [setting.partition("=")[0] for setting in result.trials[0].settings]
    name = {"f1": "F1", "token_accuracy": "token accuracy"}[result.metric]
    table = Table("", *keys, name, "sd", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for place, trial in enumerate(result.trials):
        values = [setting.partition("=")[2] for setting in trial.settings]
        table.add_row("" if place else "→", *values, f"{trial.mean:.4f}", f"{trial.sd:.4f}")
    terminal.print(table)


def _remarks(result: "TuningResult", grid: Any) -> list[str]:
    from streamlearn.app.tune import at_the_end

    winner, *others = result.trials
    remarks = []
    ruined = sum(not trial.is_finite for trial in others)
    if ruined:
        remarks.append(f"{ruined} other settings made weights NaN or infinite: the daemon would stop")
    ties = sum(trial.mean == winner.mean for trial in others)
    if ties:
        remarks.append(f"{ties} other settings have the same score; the first in the grid was chosen")
    near = len(result.near) - ties
    if near:
        remarks.append(
            f"{near} of {len(others)} other settings are within one standard deviation of the winner: "
            "these folds cannot tell them apart"
        )
    remarks += [
        f"{key}: the winner is the smallest or largest value tried; a wider --grid may find a better one"
        for key in at_the_end(grid, winner)
    ]
    return remarks


def _report(result: "TuningResult", sequences: int, folds: int, output: Path | None) -> dict[str, Any]:
    trials = [
        {
            "settings": dict(setting.split("=", 1) for setting in trial.settings),
            # JSON has no NaN.
            "mean": trial.mean if trial.is_finite else None,
            "sd": trial.sd if trial.is_finite else None,
            "scores": [score if math.isfinite(score) else None for score in trial.scores],
        }
        for trial in result.trials
    ]
    return {
        "sequences": sequences,
        "folds": folds,
        "metric": result.metric,
        "winner": trials[0]["settings"],
        "within_one_sd": len(result.near),
        "trials": trials,
        "output": str(output) if output else None,
    }
