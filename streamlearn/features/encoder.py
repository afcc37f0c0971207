"""From examples to a batch of flat arrays: the part of encoding that does not need the model's weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import attrgetter, itemgetter

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Batch, Example
from streamlearn.errors import Reason, RecordError
from streamlearn.features.labels import NO_LABELS, EncodedLabels, LabelSet, joined_labels
from streamlearn.features.values import LONGEST_KEPT, NameBook, NewName, ValueIds, stable_id
from streamlearn.features.views import View

# The name of the only column of a record with `tokens`.
TOKENS = "tokens"

# One record must not outweigh all others together: a larger weight is an error of its producer.
MAX_WEIGHT = 1000.0
# Larger values of ready-made features ruin a model as well.
MAX_VALUE = 1e6

# An example, its index among all examples, and the columns that templates read.
_Taken = tuple[int, Example, list[list[str]]]


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A batch ready to be learned, and the examples that were rejected.

    Attributes
    ----------
    batch : the encoded examples.
    accepted : the examples in it, in order.
    rejected : the others: their index among all examples, and the reason.
    """

    batch: Batch
    accepted: list[Example]
    rejected: list[tuple[int, RecordError]]


class AttributeIds(dict[str, int]):
    """Ids of ready-made features, remembered for a bounded number of distinct ones."""

    def __init__(self, capacity: int, names: NameBook) -> None:
        super().__init__()
        self._capacity = capacity
        self._names = names

    def __missing__(self, name: str) -> int:
        key = stable_id(name)
        if len(name) <= LONGEST_KEPT:
            if len(self) >= self._capacity:
                self.clear()
            self[name] = key
            self._names.add(key, name)
        return key


class _Caches:
    """Ids of the values of each column and of ready-made features."""

    def __init__(self, views: Mapping[str, Sequence[View]], capacity: int, names: NameBook) -> None:
        self.columns = {column: ValueIds(group, capacity) for column, group in views.items()}
        self.attributes = AttributeIds(capacity, names)
        self.names = names


class Encoder:
    """Turns examples into a `Batch`.

    Parameters
    ----------
    columns : names of the columns that records have; the first may also come as `tokens`.
    views : what templates read, in the order of `Batch.values`.
    labels : numbered and extended as labels appear.
    cache : distinct values remembered for each column.
    names : receives the strings behind new ids.
    longest : returns the length of the longest sequence there is memory for, with a number of labels.
    """

    def __init__(
        self,
        columns: Sequence[str],
        views: Sequence[View],
        labels: LabelSet,
        cache: int,
        names: NameBook,
        longest: Callable[[int], int],
    ) -> None:
        self._longest = longest
        self._first = columns[0] if columns else TOKENS
        self._labels = labels
        by_column = {view.column: [v for v in views if v.column == view.column] for view in views}
        # Prediction changes nothing: its names must not take the space of learned ones.
        self._caches = {True: _Caches(by_column, cache, names), False: _Caches(by_column, cache, NameBook(0))}
        self._places = {column: [views.index(v) for v in group] for column, group in by_column.items()}
        self._n_views = len(views)
        self._names = names

    def column(self, example: Example, name: str) -> list[str]:
        """Return one column of an example.

        Raises
        ------
        RecordError : it is missing.
        """
        values = example.columns.get(name)
        if values is None and name == self._first:
            values = example.columns.get(TOKENS)
        if values is None:
            has = "ready-made features" if example.features is not None else ", ".join(example.columns)
            raise RecordError(Reason.MISSING_COLUMN, f"no column {name!r}; the record has {has}")
        return values

    def encode(
        self, examples: Sequence[Example], learn: bool = True
    ) -> tuple[Batch, list[Example], list[tuple[int, RecordError]]]:
        """Encode the examples that are valid.

        Parameters
        ----------
        learn : whether labels are required, and learned; for prediction they are ignored.

        Returns
        -------
        The batch, the examples in it, and the index of each rejected example with the reason.
        """
        taken: list[_Taken] = []
        rejected: list[tuple[int, RecordError]] = []
        for place, example in enumerate(examples):
            try:
                taken.append((place, example, self._read(example, learn)))
            except RecordError as error:
                rejected.append((place, error))
        gold, known = self._encode_labels(taken, rejected) if learn else (NO_LABELS, [])
        accepted = [example for _, example, _ in taken]
        starts = _starts(accepted)
        caches, n = self._caches[learn], int(starts[-1])
        values = self._encode_values(caches, taken, n)
        attributes, attribute_starts, attribute_values = self._encode_attributes(caches, accepted, n)
        batch = Batch(
            starts=starts,
            values=values,
            attributes=attributes,
            attribute_starts=attribute_starts,
            attribute_values=attribute_values,
            labels=gold.numbers,
            labels_known=np.array(known, np.int32),
            importance=np.array([example.weight for example in accepted], np.float64),
            evidence=gold.evidence,
            names_known=len(self._names),
        )
        return batch, accepted, rejected

    def _read(self, example: Example, learn: bool) -> list[list[str]]:
        """Return the columns that templates read, after checking their lengths: kernels do not check them."""
        try:
            columns = [example.columns[name] for name in self._places]
        except KeyError:
            columns = [self.column(example, name) for name in self._places]
        if not columns and example.features is None:
            message = "no ready-made features, and no template that reads a column"
            raise RecordError(Reason.MISSING_COLUMN, message)
        length = len(example)
        if not length:
            raise RecordError(Reason.EMPTY, "no tokens")
        for column in columns:
            if len(column) != length:
                raise RecordError(Reason.LENGTH, "columns of unequal lengths")
        if not learn:
            self._require_memory(length, len(self._labels.names))
        else:
            if example.labels is None:
                raise RecordError(Reason.MISSING_LABELS, "no labels to learn from")
            if len(example.labels) != length:
                raise RecordError(Reason.LENGTH, f"{len(example.labels)} labels for {length} tokens")
            if example.features is not None:
                _check_values(example.features)
            if example.weight > MAX_WEIGHT:
                message = f"weight is {example.weight:g}, wanted at most {MAX_WEIGHT:g}"
                raise RecordError(Reason.TOO_LARGE, message)
        return columns

    def _require_memory(self, length: int, n_labels: int) -> None:
        longest = self._longest(n_labels)
        if length > longest:
            message = f"{length:,} tokens, with {n_labels} labels there is memory for {longest:,}"
            raise RecordError(Reason.TOO_LARGE, f"{message} (features.memory)")

    def _encode_labels(
        self, taken_out: list[_Taken], rejected_out: list[tuple[int, RecordError]]
    ) -> tuple[EncodedLabels, list[int]]:
        """Return labels, and the number of labels known after each sequence; reject some examples."""
        names = list(chain.from_iterable(example.labels or () for _, example, _ in taken_out))
        starts = _starts([example for _, example, _ in taken_out])
        found, longest = self._labels.find(names, starts), int(np.diff(starts).max(initial=0))
        if found is not None and longest <= self._longest(len(self._labels.names)):
            return found, [len(self._labels.names)] * len(taken_out)
        # There are new labels: each sequence adds its own, and is rejected if there are too many of them.
        labels: list[EncodedLabels] = []
        known: list[int] = []
        given, taken_out[:] = taken_out[:], []
        for taken in given:
            place, example, _ = taken
            try:
                own = example.labels or ()
                self._require_memory(len(own), self._labels.count_with(own))
                labels.append(self._labels.encode(own))
            except RecordError as error:
                rejected_out.append((place, error))
            else:
                taken_out.append(taken)
                known.append(len(self._labels.names))
        rejected_out.sort(key=itemgetter(0))
        return joined_labels(labels), known

    def _encode_values(self, caches: _Caches, taken: Sequence[_Taken], n: int) -> NDArray[np.uint64]:
        out = np.empty((n, self._n_views), np.uint64)
        new: list[NewName] = []
        for number, (name, places) in enumerate(self._places.items()):
            values = list(chain.from_iterable(columns[number] for _, _, columns in taken))
            out[:, places], found = caches.columns[name].lookup(values)
            new += found
        # Token by token, not column by column: the order must not depend on where a batch ends.
        new.sort(key=attrgetter("place"))
        for _, key, text in new:
            caches.names.add(key, text)
        return out

    def _encode_attributes(
        self, caches: _Caches, examples: Sequence[Example], n: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
        starts = np.zeros(n + 1, np.int64)
        if caches.columns:
            # Templates read columns: ready-made features are not used.
            return np.empty(0, np.uint64), starts, np.empty(0)
        ids: list[int] = []
        values: list[float] = []
        counts: list[int] = []
        for example in examples:
            for features in example.features or []:
                ids += map(caches.attributes.__getitem__, features)
                values += features.values() if isinstance(features, dict) else [1.0] * len(features)
                counts.append(len(features))
        np.cumsum(counts, out=starts[1:])
        weights = np.array(values, np.float64)
        return np.array(ids, np.uint64), starts, weights if (weights != 1.0).any() else np.empty(0)


def _starts(examples: Sequence[Example]) -> NDArray[np.int64]:
    return np.array([0, *accumulate(map(len, examples))], np.int64)


def _check_values(features: Sequence[list[str]] | Sequence[dict[str, float]]) -> None:
    for t, attributes in enumerate(features):
        if isinstance(attributes, dict):
            for name, value in attributes.items():
                if abs(value) > MAX_VALUE:
                    message = (
                        f"features[{t}].{name[:40]} is {value:g}, wanted at most {MAX_VALUE:g} either way"
                    )
                    raise RecordError(Reason.TOO_LARGE, message)
