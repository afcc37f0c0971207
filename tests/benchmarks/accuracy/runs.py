"""One run of one learner on one task, in its own process."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.evaluate import Evaluation
from streamlearn.app.open_examples import open_examples
from streamlearn.config.learned_part import digest, learned_part
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.events import Learned
from tests.benchmarks.accuracy.tasks import CRITERION_PASSES, CRITERION_POINTS, LEARNERS, Task

Part = Literal["tune", "converge", "one pass", "many passes"]

# The curve has a point for every batch.
BATCH = 64


@dataclass(frozen=True)
class Run:
    """The description of a run.

    Attributes
    ----------
    part : "tune": some passes over nine tenths of the training set, each scored on the last tenth;
        "converge": the same until the scores converge; "one pass" and "many passes": over all of the
        training set, then the test set is read once.
    settings : of the learner, ``dotted.key=value``.
    order : 0 is the file's, others are shuffles by this seed.
    passes : how many; the most for "converge".
    """

    task: Task
    learner: str
    part: Part
    settings: tuple[str, ...] = ()
    order: int = 0
    passes: int = 1

    @property
    def key(self) -> str:
        """Return a name that identifies the run and its configuration."""
        settings = " ".join(setting.removeprefix("learner.") for setting in self.settings)
        words = f"{self.task.name} {self.learner} {self.part} {settings} order {self.order} × {self.passes}"
        return f"{words} [{digest(learned_part(_configured(self)))[:8]}]"


@cache
def _configured(run: Run) -> Config:
    return run.task.load(f"learner.kind={LEARNERS[run.learner].kind}", *run.settings)


@dataclass
class Result:
    """The results of a run.

    Attributes
    ----------
    scores : of each pass that was scored, 0-1; `metric` is f1 or token_accuracy.
    tokens_per_second : of features, prediction and update in the learning thread; `seconds` is the whole.
    peak_bytes : the most memory that the process ever had; None if the system does not report it.
    curve : of the first pass: (sequences, lifetime, recent) progressive score.
    """

    metric: str = ""
    scores: list[float] = field(default_factory=list)
    passes: int = 0
    converged: bool = False
    tokens_per_second: float = 0.0
    seconds: float = 0.0
    peak_bytes: int | None = None
    curve: list[tuple[int, float, float]] = field(default_factory=list)


def work(_: None, run: Run) -> dict[str, Any]:
    """Run, and return a Result as plain data."""
    begin = time.perf_counter()
    config = _configured(run)
    warm_up(config, lambda _: None)
    result = _tested(run, config) if run.part in ("one pass", "many passes") else _held_out(run, config)
    result.seconds = time.perf_counter() - begin
    result.peak_bytes = _peak_bytes()
    return asdict(result)


def read(config: Config, path: Path) -> Iterator[Located]:
    """Read a file that must not contain invalid records."""

    def fail(error: Exception) -> None:
        raise error

    return iter(open_examples(config, [str(path)], fail))


class Study:
    """A learner that notes what the study wants to know of its passes."""

    def __init__(self, config: Config) -> None:
        self._evaluation = Evaluation(config, lambda _: None)
        self._seconds = 0.0
        self._tokens = 0
        self.result = Result()

    def learn(self, examples: Iterator[Located]) -> None:
        """Go through the sequences once."""
        is_first = not self.result.passes
        self._evaluation.learn(examples, self._note_with_curve if is_first else self._note, BATCH)
        self.result.passes += 1
        self.result.tokens_per_second = self._tokens / self._seconds

    def score(self, examples: Iterator[Located]) -> None:
        """Add a score."""
        report = self._evaluation.score(examples)
        self.result.metric = "token_accuracy" if report["f1"] is None else "f1"
        self.result.scores.append(report[self.result.metric])

    def _note(self, learned: Learned) -> None:
        self._seconds += learned.learn_seconds
        self._tokens += learned.tokens

    def _note_with_curve(self, learned: Learned) -> None:
        self._note(learned)
        scores = learned.standing.progressive
        name = "f1/micro" if "f1/micro/lifetime" in scores else "accuracy/token"
        self.result.curve.append(
            (learned.standing.sequences_seen, scores[f"{name}/lifetime"], scores[f"{name}/recent"])
        )


def _tested(run: Run, config: Config) -> Result:
    study = Study(config)
    for _ in range(run.passes):
        study.learn(_in_order(run, config))
    study.score(read(config, run.task.test))
    return study.result


def _in_order(run: Run, config: Config) -> Iterator[Located]:
    if not run.order:
        # Not kept in memory, as a stream is not.
        return read(config, run.task.train)
    examples = list(read(config, run.task.train))
    return (examples[i] for i in np.random.default_rng(run.order).permutation(len(examples)))


def _held_out(run: Run, config: Config) -> Result:
    examples = list(read(config, run.task.train))
    cut = len(examples) - len(examples) // 10
    study = Study(config)
    for _ in range(run.passes):
        study.learn(iter(examples[:cut]))
        study.score(iter(examples[cut:]))
        study.result.converged = has_converged(study.result.scores)
        if run.part == "converge" and study.result.converged:
            break
    return study.result


def has_converged(scores: Sequence[float]) -> bool:
    """Return whether the last passes score alike."""
    last = scores[-CRITERION_PASSES:]
    return len(last) == CRITERION_PASSES and 100 * (max(last) - min(last)) < CRITERION_POINTS


def _peak_bytes() -> int | None:
    # Not getrusage: its peak begins with that of the process which started this one.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
