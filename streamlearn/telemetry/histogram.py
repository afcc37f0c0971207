"""A Prometheus histogram that observes a whole batch of values at once."""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString


class BatchHistogram(Collector):
    """Counts values by bucket; prometheus_client's own takes one value per call, a microsecond each.

    Parameters
    ----------
    buckets : upper bounds in ascending order, without +Inf.
    labels : label name and all its values; a histogram for each combination exists from the start.
    """

    def __init__(
        self,
        name: str,
        documentation: str,
        registry: CollectorRegistry,
        buckets: Sequence[float],
        labels: Sequence[tuple[str, Sequence[str]]] = (),
    ) -> None:
        self._name, self._documentation = name, documentation
        self._bounds = np.array(buckets, np.float64)
        self._label_names = [label for label, _ in labels]
        keys = list(product(*(values for _, values in labels)))
        # Each entry is replaced as a whole: a scrape sees counts and sum of one moment without a lock.
        self._entries: dict[tuple[str, ...], tuple[NDArray[np.int64], float]] = {
            key: (np.zeros(len(buckets) + 1, np.int64), 0.0) for key in keys
        }
        registry.register(self)

    def observe_many(self, values: ArrayLike, *labels: str) -> None:
        """Add finite values."""
        array = np.asarray(values, np.float64)
        counts, total = self._entries[labels]
        places = np.searchsorted(self._bounds, array)
        added = np.bincount(places, minlength=len(counts))
        self._entries[labels] = (counts + added, total + float(array.sum()))

    def describe(self) -> Iterable[HistogramMetricFamily]:
        """Return the family without samples, from which the registry learns its name."""
        return [HistogramMetricFamily(self._name, self._documentation, labels=self._label_names)]

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Return the family with all samples."""
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._label_names)
        bounds = [*map(floatToGoString, self._bounds), "+Inf"]
        for key, (counts, total) in self._entries.items():
            cumulative = np.cumsum(counts).tolist()
            family.add_metric(list(key), list(zip(bounds, cumulative, strict=True)), total)
        return [family]
