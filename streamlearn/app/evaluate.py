"""The learning path of the daemon, from files: progressive scores of a train set, scores of a test set."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.config.schema import Config
from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.example_reader import ExampleReader, Located
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Batch, Example
from streamlearn.errors import RecordError, UsageError
from streamlearn.events import Learned
from streamlearn.features.batches import PIECE, joined
from streamlearn.learners.tagger import EncodedBatch, Tagger
from streamlearn.monitor.progressive import Progressive
from streamlearn.monitor.scores import Scores
from streamlearn.stream.record_codec import RecordCodec

BATCH = 512
Tell = Callable[[Learned], None]
Refuse = Callable[[RecordError], None]


def open_examples(
    config: Config, paths: Sequence[str], on_refused: Refuse, require_labels: bool = True
) -> ExampleReader:
    """Read files as `config` says: column files have its columns, then the label."""
    limits = config.source
    return ExampleReader(
        paths,
        layout=ColumnLayout(
            names=tuple(config.features.columns) or None,
            require_labels=require_labels,
            max_tokens=limits.max_tokens,
        ),
        codec=RecordCodec("json", require_labels, limits.max_tokens, limits.max_record_bytes),
        on_refused=on_refused,
    )


def batches(examples: Iterable[Located], size: int = BATCH) -> Iterator[list[Located]]:
    """Cut a stream into lists of at most `size`."""
    stream = iter(examples)
    while batch := list(islice(stream, size)):
        yield batch


def refuse(batch: Sequence[Located], encoded: EncodedBatch, on_refused: Refuse) -> None:
    """Tell of the sequences of a batch that could not be encoded, each with its file and line."""
    for place, error in encoded.rejected:
        at = batch[place]
        on_refused(RecordError(error.reason, f"{at.path}:{at.line}: {error}"))


class Evaluation:
    """Learns files in one or more passes, then labels others.

    Parameters
    ----------
    on_refused : told of every sequence that cannot be used, with file, line and reason.
    """

    def __init__(self, config: Config, on_refused: Refuse) -> None:
        self._config = config
        self._on_refused = on_refused
        self.tagger: Tagger = build_tagger(config)

    def train(self, paths: Sequence[str], passes: int = 1, tell: Tell = lambda _: None) -> dict[str, Any]:
        """Learn.

        Parameters
        ----------
        tell : told of every batch.

        Returns
        -------
        sequences and tokens of one pass, seconds of all passes, and the progressive token accuracy of the
        first: in later passes every sequence has been seen before.
        """
        begin = time.perf_counter()
        first = self.learn(self._open(paths), tell)
        for _ in range(1, passes):
            self.learn(self._open(paths), tell)
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
        """Label `paths` with the weights as they are and compare: the report of `monitor.scores`."""
        return self.score(self._open(paths))

    def score(self, examples: Iterable[Located]) -> dict[str, Any]:
        """Do the same for sequences that were read already."""
        scores = Scores()
        # Labels that were never learned are numbered after those that were.
        numbers = {label: number for number, label in enumerate(self.tagger.labels)}
        for batch in batches(examples):
            encoded = self.tagger.encode([located.example for located in batch], learn=False)
            refuse(batch, encoded, self._on_refused)
            if encoded.accepted:
                gold = self._gold(encoded.accepted, numbers)
                predicted = self.tagger.predict_batch(encoded.batch)
                scores.update(list(numbers), gold, predicted, encoded.batch.starts)
        return scores.report()

    def _gold(self, examples: Sequence[Example], numbers: dict[str, int]) -> NDArray[np.int32]:
        labels = (label for example in examples for label in self.tagger.mapped(example.labels or []))
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int32)

    def _open(self, paths: Sequence[str]) -> ExampleReader:
        return open_examples(self._config, paths, self._on_refused)

    def learn(
        self, examples: Iterable[Located], tell: Tell = lambda _: None, batch: int = BATCH
    ) -> dict[str, Any]:
        """Learn sequences, each once, in order.

        Parameters
        ----------
        tell : told of every batch.
        batch : sequences in a batch; the weights do not depend on it.

        Returns
        -------
        sequences, tokens, and the progressive token accuracy.
        """
        totals = {"sequences": 0, "tokens": 0, "accuracy": 0.0}

        def settle(pipeline: Pipeline) -> None:
            learned = pipeline.settle()
            if learned:
                totals["sequences"] += learned.sequences
                totals["tokens"] += learned.tokens
                totals["accuracy"] = learned.progressive["accuracy/token/lifetime"]
                tell(learned)

        watch = build_watch(self._config, self.tagger)
        with Pipeline(self.tagger, Progressive(), watch=watch) as pipeline:
            stream = iter(examples)
            begin = time.perf_counter()
            while pieces := [self._encode(part) for part in batches(islice(stream, batch), PIECE)]:
                settle(pipeline)
                whole = joined(pieces)
                if whole.importance.size:
                    pipeline.submit(whole, time.perf_counter() - begin)
                begin = time.perf_counter()
            settle(pipeline)
        return totals

    def _encode(self, part: Sequence[Located]) -> Batch:
        encoded = self.tagger.encode([located.example for located in part])
        refuse(part, encoded, self._on_refused)
        return encoded.batch
