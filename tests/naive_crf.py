"""Plain restatements of learners of conditional random fields; imports nothing of ours.

The gradient comes from all L**T labellings, and every weight is visited after every sequence.
"""

import itertools
import math
from collections import defaultdict

from tests.naive import Chain, log_sum


class _Crf(Chain):
    def __init__(self, sigma=5.0, **others):
        super().__init__(**others)
        self._variance = sigma**2 if sigma else math.inf
        self.loss = 0.0

    def _gradient(self, positions, gold):
        """Return ∂ log P(gold) / ∂ w, and add -log P(gold) to the loss."""
        paths = list(itertools.product(self.labels, repeat=len(positions)))
        scores = [self.score(positions, path, self.last) for path in paths]
        log_z = log_sum(scores)
        gradient = defaultdict(float)
        for path, found in zip(paths, scores, strict=True):
            p = math.exp(found - log_z)
            for key, value in self._phi(positions, path):
                gradient[key] -= p * value
        for key, value in self._phi(positions, gold):
            gradient[key] += value
        self.loss += log_z - self.score(positions, gold, self.last)
        return gradient

    def learn(self, positions, gold, importance=1.0):
        """Learn one sequence."""
        positions = [list(self._admitted(position)) for position in positions]
        self._know(gold)
        self.seen += 1
        self._update(positions, self._gradient(positions, gold), importance)
        self._let_into_average()

    def _shrink(self, key, rate, sequences):
        """Apply the L2 term of so many sequences, of all that were seen; no weight is pushed beyond 0."""
        self.last[key] *= max(0.0, 1 - rate * sequences / (self.seen * self._variance))


class Adf(_Crf):
    """Sun, Li, Wang & Lu 2014, figure 1, with the L2 term at the ends of windows, at the new rates."""

    def __init__(
        self, rate=0.05, keep_rare=0.995, keep_frequent=0.6, window=200, growth=1.0, min_rate=0.0,
        late_start=False, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self._rate, self._min_rate, self._late_start = rate, min_rate, late_start
        self._alpha, self._beta = keep_rare, keep_frequent
        self._size, self._growth, self._ends = window, growth, [0, window]
        self._new = rate
        self.rates = {}
        self._counts = {}
        self._row = {}

    def _update(self, positions, gradient, importance):
        features = {(kind, name) for position in positions for kind, name, _ in position}
        rows = {("U" if kind == "U" else "B", name) for kind, name in features - {("T", "T")}}
        if ("T", "T") in features and len(positions) > 2:
            # "Two positions back is y" is a feature for each label y.
            rows |= {("T", label) for label in self.labels}
        for row in rows:
            self.rates.setdefault(row, max(self._new, self._min_rate))
            self._counts[row] = self._counts.get(row, 0) + 1
        both = {name for position in positions for kind, name, _ in position if kind == "*"}
        for key, slope in gradient.items():
            row = ("B" if len(key) == 3 or key[0] in both else "U", key[0]) if len(key) < 4 else key[:2]
            self._row[key] = row
            self.last[key] += importance * self.rates[row] * slope
        if self.seen == math.floor(self._ends[-1]):
            self._close()

    def _close(self):
        """End a window."""
        q = math.floor(self._ends[-1]) - math.floor(self._ends[-2])
        for row, rate in self.rates.items():
            eta = self._alpha - (self._alpha - self._beta) * self._counts[row] / q
            self.rates[row] = max(rate * eta, self._min_rate)
            self._counts[row] = 0
        if self._late_start:
            self._new *= self._alpha
        for key in self.last:
            self._shrink(key, self.rates[self._row[key]], q)
        self._size *= self._growth
        self._ends.append(self._ends[-1] + self._size)

    def rewarm(self):
        """Return all rates to that of the start."""
        self.rates = dict.fromkeys(self.rates, self._rate)
        self._new = self._rate


class Sgd(_Crf):
    """One rate for all; it decays every `per` sequences, and so do all weights then, at the new rate."""

    def __init__(self, rate=0.1, decay=0.95, per=200, min_rate=0.0, **others):
        super().__init__(**others)
        self._rate, self._decay, self._per, self._min_rate = rate, decay, per, min_rate

    def _update(self, _, gradient, importance):
        for key, slope in gradient.items():
            self.last[key] += importance * self._rate * slope
        if self.seen % self._per == 0:
            self._rate = max(self._rate * self._decay, self._min_rate)
            for key in self.last:
                self._shrink(key, self._rate, self._per)


class AdaGrad(_Crf):
    """Duchi, Hazan & Singer 2011: a sum of squared gradients for each weight."""

    def __init__(self, rate=0.1, floor=0.0, **others):
        super().__init__(**others)
        self._rate, self._floor = rate, floor
        self._squares = defaultdict(float)

    def _update(self, _, gradient, importance):
        for key, slope in gradient.items():
            self._squares[key] += (importance * slope) ** 2
        for key in self.last | gradient:
            if not self._squares[key]:
                continue
            rate = self._rate / math.sqrt(self._floor + self._squares[key])
            self.last[key] += importance * rate * gradient.get(key, 0.0)
            self.last[key] *= math.exp(-rate / (self.seen * self._variance))
