"""Grid search by cross-validation on the first sequences of files, in one pass as the daemon learns."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.app.evaluate import Evaluation, batches, report_rejected
from streamlearn.app.open_examples import OnRejected, open_examples
from streamlearn.app.tuning_grid import Grid, default_grid, parse_grid
from streamlearn.app.workers import spread
from streamlearn.config.load import load
from streamlearn.config.rewrite import rewritten
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.errors import ConfigError, NonFiniteWeightsError, UsageError


@dataclass(frozen=True, slots=True)
class Candidate:
    """One point of the grid.

    Attributes
    ----------
    settings : ``dotted.key=value``, one for each key of the grid.
    config : the configuration with them.
    """

    settings: tuple[str, ...]
    config: Config


@dataclass(frozen=True, slots=True)
class Trial:
    """The score of one point of the grid on each fold, 0-1; NaN where the weights became NaN or infinite."""

    settings: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return fmean(self.scores)

    @property
    def sd(self) -> float:
        """Standard deviation over the folds."""
        return stdev(self.scores) if self.is_finite else math.nan

    @property
    def is_finite(self) -> bool:
        """Whether all weights stayed finite."""
        return all(map(math.isfinite, self.scores))


@dataclass(frozen=True, slots=True)
class TuningResult:
    """All trials, best first and ties in the order of the grid; `metric` is f1 or token_accuracy."""

    metric: str
    trials: tuple[Trial, ...]

    @property
    def near(self) -> list[Trial]:
        """Trials other than the winner whose mean is within one standard deviation of it."""
        winner, *others = self.trials
        return [trial for trial in others if trial.mean >= winner.mean - winner.sd]


def candidates(path: Path, overrides: Sequence[str], grid: Grid) -> list[Candidate]:
    """Return every point of the grid; the last key changes fastest.

    Raises
    ------
    ConfigError : a point is not a valid configuration.
    """
    points = [
        tuple(f"{key}={value}" for key, value in zip(grid, values, strict=True))
        for values in product(*grid.values())
    ]
    return [Candidate(point, _load(path, overrides, point)) for point in points]


def _load(path: Path, overrides: Sequence[str], point: tuple[str, ...]) -> Config:
    try:
        return load(path, [*overrides, *point])
    except ConfigError as error:
        raise ConfigError(f"--grid {' '.join(point)}: {error}") from None


def first_examples(
    config: Config, paths: Sequence[str], limit: int | None, on_rejected: OnRejected
) -> list[Located]:
    """Return the first sequences that can be learned from; rejected ones are reported here and only here."""
    tagger = build_tagger(config)
    found: list[Located] = []
    for batch in batches(open_examples(config, paths, on_rejected)):
        encoded = tagger.encode([located.example for located in batch])
        report_rejected(batch, encoded, on_rejected)
        rejected = dict(encoded.rejected)
        found += (located for place, located in enumerate(batch) if place not in rejected)
        if limit and len(found) >= limit:
            break
    return found[:limit]


class CrossValidation:
    """Scores every candidate on every fold, after learning the other folds in one pass and in their order.

    Which sequences form a fold depends only on `seed` and on the number of sequences.

    Raises
    ------
    UsageError : there are fewer sequences than folds.
    """

    def __init__(
        self, candidates: Sequence[Candidate], examples: Sequence[Located], folds: int, seed: int
    ) -> None:
        if len(examples) < folds:
            raise UsageError(
                f"{len(examples)} sequences are too few for {folds} folds; use more files or fewer --folds"
            )
        self._candidates = candidates
        self._examples = examples
        self._folds = folds
        ranks = np.random.default_rng(seed).permutation(len(examples))
        self._fold_of: list[int] = (ranks % folds).tolist()
        # None where the weights became NaN or infinite.
        self._reports: dict[tuple[int, int], tuple[float, float | None] | None] = {}

    @property
    def total(self) -> int:
        """How many times `run` yields."""
        return len(self._candidates) * self._folds

    def run(self, processes: int) -> Iterator[None]:
        """Work, and yield after every result; the results do not depend on the number of processes."""
        tasks = [(point, fold) for point in range(len(self._candidates)) for fold in range(self._folds)]
        configs = [candidate.config for candidate in self._candidates]
        shared = configs, self._examples, self._fold_of
        for task, report in spread(_fold_report, shared, tasks, processes):
            self._reports[task] = report
            yield

    def result(self) -> TuningResult:
        """Compare the candidates after `run`: by F1 if the labels mark spans, else by token accuracy.

        Candidates whose weights became NaN or infinite come last.

        Raises
        ------
        NonFiniteWeightsError : all did.
        """
        is_spans = all(report[1] is not None for report in self._reports.values() if report)
        metric = "f1" if is_spans else "token_accuracy"
        trials = [
            Trial(candidate.settings, tuple(self._scores(point, metric)))
            for point, candidate in enumerate(self._candidates)
        ]
        trials.sort(key=lambda trial: -trial.mean if trial.is_finite else math.inf)
        if not trials[0].is_finite:
            raise NonFiniteWeightsError(
                "weights became NaN or infinite with every setting of the grid; try smaller learning rates"
            )
        return TuningResult(metric, tuple(trials))

    def _scores(self, point: int, metric: str) -> Iterator[float]:
        for fold in range(self._folds):
            accuracy, f1 = self._reports[point, fold] or (math.nan, math.nan)
            yield f1 if metric == "f1" and f1 is not None else accuracy


class GridSearch:
    """What `streamlearn tune` searches: points of a grid over a configuration file.

    Parameters
    ----------
    overrides : ``dotted.key=value`` over the file.
    grid : ``dotted.key=value,value,…``; the default grid of the learner if there are none.
    output : where the winning configuration is written; None writes none.

    Attributes
    ----------
    grid : values to try, by key.

    Raises
    ------
    UsageError, ConfigError : a point is invalid, or the output could not be written; before any work is done.
    """

    def __init__(
        self, path: Path, overrides: Sequence[str], grid: Sequence[str], output: Path | None
    ) -> None:
        self._path = path
        self._overrides = list(overrides)
        self._output = output
        self.grid = parse_grid(grid) if grid else default_grid(load(path, overrides))
        self._candidates = candidates(path, overrides, self.grid)
        if output:
            rewritten(path, [*overrides, *self._candidates[0].settings], output)
            if output.is_dir() or not output.parent.is_dir():
                raise UsageError(f"--output {output}: wanted a file in an existing directory")

    def examples(self, paths: Sequence[str], limit: int | None, on_rejected: OnRejected) -> list[Located]:
        """Return the first sequences of files; see `first_examples`."""
        return first_examples(self._candidates[0].config, paths, limit, on_rejected)

    def validation(
        self, examples: Sequence[Located], folds: int, seed: int, say: Callable[[str], None]
    ) -> CrossValidation:
        """Return the cross-validation to run, with all kernels compiled; `say` is that of `warm_up`."""
        validation = CrossValidation(self._candidates, examples, folds, seed)
        for config in {each.config.learner.kind: each.config for each in self._candidates}.values():
            warm_up(config, say)
        return validation

    def settings(self, result: TuningResult) -> list[str]:
        """Return the overrides that make the winning configuration of the file."""
        return [*self._overrides, *result.trials[0].settings]

    def write(self, result: TuningResult) -> None:
        """Write the winning configuration to the output, if there is one."""
        if self._output:
            self._output.write_text(
                rewritten(self._path, self.settings(result), self._output), encoding="utf-8"
            )


def _fold_report(
    shared: tuple[list[Config], Sequence[Located], list[int]], task: tuple[int, int]
) -> tuple[float, float | None] | None:
    """Return token accuracy and F1 of one fold after learning the others; None if that ruined the weights."""
    configs, examples, fold_of = shared
    point, fold = task
    evaluation = Evaluation(configs[point], lambda _: None)
    try:
        evaluation.learn(example for example, of in zip(examples, fold_of, strict=True) if of != fold)
    except NonFiniteWeightsError:
        return None
    report = evaluation.score(example for example, of in zip(examples, fold_of, strict=True) if of == fold)
    return report["token_accuracy"], report["f1"]


def at_the_end(grid: Grid, winner: Trial) -> list[str]:
    """Return the keys whose winning number is the smallest or largest of those tried.

    Examples
    --------
    >>> at_the_end({"learner.rate": ("0.05", "0.1")}, Trial(("learner.rate=0.1",), (0.9, 0.8)))
    ['learner.rate']
    """
    found = []
    for setting in winner.settings:
        key, _, value = setting.partition("=")
        numbers = [_number(each) for each in grid[key]]
        if len(numbers) > 1 and None not in numbers:
            known = [number for number in numbers if number is not None]
            if _number(value) in (min(known), max(known)):
                found.append(key)
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
