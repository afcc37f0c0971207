"""Accuracy of every learner on every task, after one pass and at convergence.

    python -m tests.benchmarks.study --data ../shared/data --output /tmp/study

Settings are chosen on the last tenth of the training set, which is held out for that; then all of it is
learned, and the test set is scored once per number. Every result is stored in the output directory
immediately, so that an interrupted study continues where it stopped. A table (table.md) and learning curves
(TASK.png; they need the extra `study`) are written to the same directory. Speeds are meaningful with --jobs 1
on an idle machine.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.workers import available_cores, spread
from tests.benchmarks.accuracy.results import Found, Results, markdown, row
from tests.benchmarks.accuracy.runs import Run, work
from tests.benchmarks.accuracy.tagging import tag_jnlpba
from tests.benchmarks.accuracy.tasks import LEARNERS, TUNING_PASSES, Task, tasks

_JOBS = "processes, one a run (default: all cores); 0: all in this one, whose memory then means nothing"


def say(message: str) -> None:
    """Print progress."""
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def grid_of(learner: str) -> list[tuple[str, ...]]:
    """Return the settings to be tried."""
    variant = LEARNERS[learner]
    return [
        (*variant.fixed, *(f"{key}={value}" for key, value in zip(variant.grid, values, strict=True)))
        for values in product(*variant.grid.values())
    ]


@dataclass(frozen=True)
class Study:
    """The runs that depend on each other: tune, then converge, then test."""

    results: Results
    learners: Sequence[str]
    orders: int
    max_passes: int
    jobs: int

    def rows(self, task: Task) -> dict[str, tuple[str, ...]]:
        """Do all missing runs of a task and return the row of each learner."""
        learners = self._suited(task)
        for learner in learners:
            warm_up(task.load(f"learner.kind={LEARNERS[learner].kind}"), say)
        self._do([run for learner in learners for run in self._trials(task, learner)])
        self._do([self._converging(task, learner) for learner in learners]
                 + [run for learner in learners for run in self._one_pass(task, learner)])  # fmt: skip
        self._do([self._many_passes(task, learner) for learner in learners])
        return {learner: self._row(task, learner) for learner in learners}

    def curves(self, task: Task) -> dict[str, Found]:
        """Return what the pass in the file's order found, by learner."""
        return {learner: self.results[self._one_pass(task, learner)[0]] for learner in self._suited(task)}

    def _suited(self, task: Task) -> list[str]:
        return [learner for learner in self.learners if learner not in task.without]

    def _trials(self, task: Task, learner: str) -> list[Run]:
        passes = min(TUNING_PASSES, self.max_passes)
        return [Run(task, learner, "tune", settings, 0, passes) for settings in grid_of(learner)]

    def _best(self, task: Task, learner: str, after: int) -> tuple[str, ...]:
        """Choose settings by the score on the held-out tail after a pass, counted from 0 or from the end."""
        best = max(self._trials(task, learner), key=lambda run: self.results[run]["scores"][after])
        return best.settings

    def _one_pass(self, task: Task, learner: str) -> list[Run]:
        settings = self._best(task, learner, 0)
        return [Run(task, learner, "one pass", settings, order) for order in range(self.orders)]

    def _converging(self, task: Task, learner: str) -> Run:
        return Run(task, learner, "converge", self._best(task, learner, -1), 0, self.max_passes)

    def _many_passes(self, task: Task, learner: str) -> Run:
        held_out = self._converging(task, learner)
        passes = self.results[held_out]["passes"]
        return Run(task, learner, "many passes", held_out.settings, 0, passes)

    def _row(self, task: Task, learner: str) -> tuple[str, ...]:
        one = [self.results[run] for run in self._one_pass(task, learner)]
        many = self.results[self._converging(task, learner)]
        return (task.name, *row(learner, one, many, self.results[self._many_passes(task, learner)]))

    def _spread(self, runs: Sequence[Run]) -> Iterator[tuple[Run, Found]]:
        return spread(work, None, runs, max(1, self.jobs), fresh=self.jobs > 0)

    def _do(self, runs: Sequence[Run]) -> None:
        missing = [run for run in runs if run not in self.results]
        for number, (run, result) in enumerate(self._spread(missing), 1):
            self.results.add(run, result)
            score = f"{100 * result['scores'][-1]:.2f} in {result['seconds']:.0f} s"
            say(f"{number}/{len(missing)} {run.key}: {score}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write it and the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", default="../shared/data", type=Path, help="the data sets")
    parser.add_argument("--output", required=True, type=Path, help="directory of results, table and curves")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="default: all")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--orders", default=5, type=int, help="the file's, and shuffles (default 5)")
    parser.add_argument("--max-passes", default=30, type=int, help="for convergence (default 30)")
    parser.add_argument("--jobs", default=available_cores(), type=int, help=_JOBS)
    options = parser.parse_args(arguments)
    known = {task.name: task for task in tasks(options.data, options.output)}
    wanted = options.tasks or list(known)
    if unknown := set(wanted) - known.keys():
        parser.error(f"--tasks {' '.join(sorted(unknown))}: there are {' '.join(known)}")
    run([known[name] for name in wanted], options)


def run(wanted: Sequence[Task], options: argparse.Namespace) -> None:
    """Do the tasks one after the other; the table is rewritten after each."""
    options.output.mkdir(parents=True, exist_ok=True)
    results = Results(options.output / "results.jsonl")
    if results.of_other_code:
        old = f"{results.of_other_code} of {len(results)} results"
        say(f"{old} are of other kernels; choose another --output to measure again")
    if not find_spec("matplotlib"):
        say("no curves: they need matplotlib (pip install '.[study]')")
    study = Study(results, options.learners, options.orders, options.max_passes, options.jobs)
    rows: list[tuple[str, ...]] = []
    for task in wanted:
        if task.name.startswith("jnlpba-pos"):
            tag_jnlpba(options.data, task.train.parent, max(1, options.jobs))
        rows += study.rows(task).values()
        (options.output / "table.md").write_text(markdown(rows, options.orders))
        if find_spec("matplotlib"):
            from tests.benchmarks.accuracy.curves import draw

            draw(options.output / f"{task.name}.png", task.name, study.curves(task))
    print(markdown(rows, options.orders), end="")


if __name__ == "__main__":
    main()
