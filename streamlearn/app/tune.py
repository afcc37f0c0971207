"""Cross-validation of settings on the first sequences of files, in one pass as they will be learned."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.evaluate import Evaluation, OnRejected, batches, open_examples, report_rejected
from streamlearn.app.workers import spread
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.errors import ConfigError, UsageError

Grid = Mapping[str, Sequence[str]]

LEARNED = ("features", "labels", "learner")

# The first is that of Sun, Li, Wang & Li 2014, section 4.3. The steps of SGD fall for all features alike, and
# those of AdaGrad with the gradients, so that both begin with larger ones. PA and AROW have no rate, but
# something that bounds their steps.
GRIDS: Mapping[str, Grid] = {
    "adf": {"learner.rate": ("0.005", "0.01", "0.05", "0.1"), "learner.sigma": ("1", "5", "10")},
    "swvp": {
        "learner.substructures": ("blocks", "all"),
        "learner.gamma": ("wm", "wmr"),
        "learner.beta": ("0.5", "1", "2"),
    },
    "sgd": {"learner.rate": ("0.02", "0.05", "0.1", "0.2"), "learner.sigma": ("1", "5", "10")},
    "pa": {
        "learner.aggressiveness": ("0.01", "0.03", "0.1", "1"),
        "learner.half_life": ("500", "2000", "8000"),
    },
    "arow": {"learner.regularization": ("1", "3", "10", "30", "100")},
    "adagrad": {"learner.rate": ("0.05", "0.1", "0.2", "0.4"), "learner.sigma": ("1", "5", "10")},
}


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
    """What a point of the grid scored on each fold, 0-1."""

    settings: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return fmean(self.scores)

    @property
    def sd(self) -> float:
        """Standard deviation over the folds."""
        return stdev(self.scores)


@dataclass(frozen=True, slots=True)
class TuningResult:
    """All trials, the best first (those that tie as in the grid); `metric` is f1 or token_accuracy."""

    metric: str
    trials: tuple[Trial, ...]

    @property
    def near(self) -> list[Trial]:
        """Trials, without the winner, whose mean is within the winner's standard deviation."""
        winner, *others = self.trials
        return [trial for trial in others if trial.mean >= winner.mean - winner.sd]


def parse_grid(options: Sequence[str]) -> Grid:
    """Read ``dotted.key=value,value,…``.

    Examples
    --------
    >>> parse_grid(["learner.rate=0.05,0.1"])
    {'learner.rate': ('0.05', '0.1')}

    Raises
    ------
    UsageError : not of that form, a key that changes nothing that is learned, or one key twice.
    """
    grid: dict[str, tuple[str, ...]] = {}
    for option in options:
        key, _, values = option.partition("=")
        found = tuple(value.strip() for value in values.split(","))
        if not key or not all(found):
            raise UsageError(f"--grid {option}: dotted.key=value,value is wanted, e.g. learner.rate=0.05,0.1")
        if key.partition(".")[0] not in LEARNED:
            raise UsageError(
                f"--grid {option}: no weight depends on {key}; keys of {', '.join(LEARNED)} can be tried"
            )
        if key in grid:
            raise UsageError(f"--grid {option}: {key} stands here twice; give all its values in one --grid")
        grid[key] = found
    return grid


def default_grid(config: Config) -> Grid:
    """Give the grid of the learner that is configured.

    Raises
    ------
    UsageError : it has nothing to tune.
    """
    kind = config.learner.kind
    if kind not in GRIDS:
        raise UsageError(
            f"the {kind} has no rate to tune; choose another learner (--set learner.kind=adf), or say what "
            "to try (--grid learner.average=all,none)"
        )
    return GRIDS[kind]


def candidates(path: Path, overrides: Sequence[str], grid: Grid) -> list[Candidate]:
    """Give every point of the grid, the last key changing fastest.

    Raises
    ------
    ConfigError : a point is no configuration.
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
    """Scores every candidate on every fold: learns the others in one pass and in their order, labels this.

    Which sequences make a fold depends on `seed` and the number of sequences only.

    Parameters
    ----------
    configs : the candidates' configurations.

    Raises
    ------
    UsageError : fewer sequences than folds.
    """

    def __init__(
        self, candidates: Sequence[Candidate], examples: Sequence[Located], folds: int, seed: int
    ) -> None:
        if len(examples) < folds:
            raise UsageError(f"{len(examples)} sequences to learn from, {folds} folds want one each at least")
        self._candidates = candidates
        self._examples = examples
        self._folds = folds
        ranks = np.random.default_rng(seed).permutation(len(examples))
        self._fold_of: list[int] = (ranks % folds).tolist()
        self._reports: dict[tuple[int, int], tuple[float, float | None]] = {}

    @property
    def total(self) -> int:
        """How many results `run` gives."""
        return len(self._candidates) * self._folds

    def run(self, processes: int) -> Iterator[None]:
        """Work, and yield after every result; the results depend on neither order nor number of processes."""
        tasks = [(point, fold) for point in range(len(self._candidates)) for fold in range(self._folds)]
        configs = [candidate.config for candidate in self._candidates]
        shared = configs, self._examples, self._fold_of
        for task, report in spread(_fold_report, shared, tasks, processes):
            self._reports[task] = report
            yield

    def verdict(self) -> TuningResult:
        """Compare the candidates, once `run` is through.

        F1 counts where the labels mark spans, else token accuracy.
        """
        is_spans = all(f1 is not None for _, f1 in self._reports.values())
        metric = "f1" if is_spans else "token_accuracy"
        trials = [
            Trial(candidate.settings, tuple(self._scores(point, metric)))
            for point, candidate in enumerate(self._candidates)
        ]
        trials.sort(key=lambda trial: -trial.mean)
        return TuningResult(metric, tuple(trials))

    def _scores(self, point: int, metric: str) -> Iterator[float]:
        for fold in range(self._folds):
            accuracy, f1 = self._reports[point, fold]
            yield f1 if metric == "f1" and f1 is not None else accuracy


def _fold_report(
    shared: tuple[list[Config], Sequence[Located], list[int]], task: tuple[int, int]
) -> tuple[float, float | None]:
    """Give token accuracy and F1 of one fold, learned from the others."""
    configs, examples, fold_of = shared
    point, fold = task
    evaluation = Evaluation(configs[point], lambda _: None)
    evaluation.learn(example for example, of in zip(examples, fold_of, strict=True) if of != fold)
    report = evaluation.score(example for example, of in zip(examples, fold_of, strict=True) if of == fold)
    return report["token_accuracy"], report["f1"]


def at_the_end(grid: Grid, winner: Trial) -> list[str]:
    """Name the keys whose winning number is the smallest or the largest that was tried.

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
