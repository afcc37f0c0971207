"""Learning from files exactly as the daemon learns: progressive scores in training, scores of a test set."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.app.label_findings import expected_scheme, require_valid_labellings, telling
from streamlearn.app.open_examples import OnRejected, TextFormat, open_examples
from streamlearn.checkpoint.finite import assert_finite
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import ExampleReader, Located
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Batch
from streamlearn.errors import RecordError, UsageError
from streamlearn.events import Learned
from streamlearn.features.batches import PIECE, joined
from streamlearn.features.encoder import EncodedBatch
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.diagnosis import Diagnosis
from streamlearn.monitor.scores import Scores

BATCH = 512
OnLearned = Callable[[Learned], None]
Item = TypeVar("Item")


def batches(examples: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Yield a stream in lists of at most `size`."""
    stream = iter(examples)
    while batch := list(islice(stream, size)):
        yield batch


def report_rejected(batch: Sequence[Located], encoded: EncodedBatch, on_rejected: OnRejected) -> None:
    """Report the sequences of a batch that could not be encoded, each with its file and line."""
    for place, error in encoded.rejected:
        on_rejected(with_place(batch[place], error))


def with_place(where: Located, error: RecordError) -> RecordError:
    """Return an error whose message begins with file and line."""
    return RecordError(error.reason, f"{where.path}:{where.line}: {error}")


class Evaluation:
    """Learns from files in one or more passes, then scores others.

    Parameters
    ----------
    on_rejected : called for every sequence that cannot be used, with file, line and reason.
    text_format : of the files.
    warn : called once with each reason why learning looks broken.
    """

    def __init__(
        self,
        config: Config,
        on_rejected: OnRejected,
        text_format: TextFormat = TextFormat(),  # noqa: B008 - it is frozen
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._config = config
        self._on_rejected = on_rejected
        self._text_format = text_format
        self.tagger: Tagger = build_tagger(config)
        self._first: LearningState | None = None
        self._warn = warn
        self._diagnosis = Diagnosis(expected_scheme(self.tagger, config.labels), telling(warn))

    @property
    def state(self) -> LearningState:
        """The model, with the scores of the first pass: in later ones every sequence was seen before."""
        if self._first is None:
            raise RuntimeError("nothing was learned yet")
        return self._first

    def train(
        self, paths: Sequence[str], passes: int = 1, on_learned: OnLearned = lambda _: None
    ) -> dict[str, Any]:
        """Learn from files.

        Parameters
        ----------
        on_learned : called after every batch.

        Returns
        -------
        sequences and tokens of one pass, seconds of all passes, and the progressive token accuracy of the
        first: in later passes every sequence has been seen before.

        Raises
        ------
        UsageError : a file cannot be read, or they hold no sequence to learn from.
        NonFiniteWeightsError, ConfigError : as in `learn`.
        """
        begin = time.perf_counter()
        first = self.learn(self._open(paths), on_learned)
        for _ in range(1, passes):
            self.learn(self._open(paths), on_learned)
        if not first["sequences"]:
            raise UsageError(f"{', '.join(paths)}: no sequence to learn from")
        return {
            "sequences": first["sequences"],
            "tokens": first["tokens"],
            "seconds": time.perf_counter() - begin,
            "passes": passes,
            "progressive_token_accuracy": first["accuracy"],
        }

    def test(self, paths: Sequence[str]) -> dict[str, Any]:
        """Label files with the current weights and return the scores, as `monitor.scores` reports them."""
        return self.score(self._open(paths))

    def score(self, examples: Iterable[Located]) -> dict[str, Any]:
        """Do the same for sequences that were read before."""
        scores = Scores()
        # Labels that were never learned are numbered after those that were.
        numbers = {label: number for number, label in enumerate(self.tagger.labels)}
        for batch in batches(examples):
            encoded = self.tagger.encode([located.example for located in batch], learn=False)
            report_rejected(batch, encoded, self._on_rejected)
            if encoded.accepted:
                gold = [self.tagger.mapped(example.labels or []) for example in encoded.accepted]
                # In the scheme of the data, as `predict` writes them.
                predicted = self.tagger.label_batch(encoded.batch)
                pairs = zip(predicted, gold, strict=True)
                paths: list[Sequence[str | None]] = [path or [None] * len(of) for path, of in pairs]
                y = _numbered(chain.from_iterable(gold), numbers)
                z = _numbered(chain.from_iterable(paths), numbers)
                scores.update(list(numbers), y, z, encoded.batch.starts)
        return scores.report()

    def _open(self, paths: Sequence[str]) -> ExampleReader:
        return open_examples(self._config, paths, self._on_rejected, self._text_format)

    def learn(
        self, examples: Iterable[Located], on_learned: OnLearned = lambda _: None, batch: int = BATCH
    ) -> dict[str, Any]:
        """Learn sequences, each once, in order.

        Parameters
        ----------
        on_learned : called after every batch.
        batch : sequences in a batch; the weights do not depend on it.

        Returns
        -------
        sequences, tokens, and the progressive token accuracy.

        Raises
        ------
        NonFiniteWeightsError : a weight is not finite, which would stop the daemon, too.
        ConfigError : the constraint allows no labelling with the labels of the data.
        """
        totals = {"sequences": 0, "tokens": 0, "accuracy": 0.0}

        def settle(pipeline: Pipeline) -> None:
            learned = pipeline.settle()
            if learned:
                totals["sequences"] += learned.sequences
                totals["tokens"] += learned.tokens
                totals["accuracy"] = learned.standing.progressive["accuracy/token/lifetime"]
                self._diagnosis(learned)
                on_learned(learned)

        state = LearningState(self.tagger, build_watch(self._config, self.tagger))
        self._first = self._first or state
        with Pipeline(state) as pipeline:
            stream = iter(examples)
            begin = time.perf_counter()
            while pieces := [self._encode(part) for part in batches(islice(stream, batch), PIECE)]:
                settle(pipeline)
                whole = joined(pieces)
                if whole.importance.size:
                    pipeline.submit(whole, time.perf_counter() - begin)
                begin = time.perf_counter()
            settle(pipeline)
        self._diagnosis.finish()
        assert_finite(self.tagger.view(), "model")
        missing = require_valid_labellings(self.tagger)
        if missing:
            self._warn(missing)
        return totals

    def _encode(self, part: Sequence[Located]) -> Batch:
        encoded = self.tagger.encode([located.example for located in part])
        report_rejected(part, encoded, self._on_rejected)
        return encoded.batch


def _numbered(labels: Iterable[str | None], numbers_out: dict[str, int]) -> NDArray[np.int32]:
    """Return the numbers of labels, adding new ones; -1 for none."""
    found = (-1 if label is None else numbers_out.setdefault(label, len(numbers_out)) for label in labels)
    return np.fromiter(found, np.int32)
