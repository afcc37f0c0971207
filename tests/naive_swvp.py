"""A plain restatement of the structured weighted violations perceptron; imports nothing of ours.

Dror & Reichart 2016, algorithm 2 and section 5: JJ is written out as in the paper, every mixed assignment is
a whole labelling, and its margin is w · Φ(x, y) − w · Φ(x, m) over dictionaries.
"""

import itertools
from collections import defaultdict

from tests.naive import Chain, chunks


def substructures(jj, gold, guess, max_errors=6, order=1):
    """Return JJ, sets of positions, without regard to where the guess is right; `order` is of the chain."""
    n = len(gold)
    wrong = [t for t in range(n) if gold[t] != guess[t]]
    if jj == "single":
        return [{t} for t in range(n)]
    if jj == "whole":
        return [set(range(n))]
    if jj == "all" and len(wrong) <= max_errors:
        return [set(chosen) for k in range(1, n + 1) for chosen in itertools.combinations(range(n), k)]
    if jj == "spans":
        return [set(range(begin, end)) for labels in (gold, guess) for begin, end, _ in chunks(labels)]
    # In the second order one right position does not part two blocks: a triple sees both.
    inside = {t for t in range(n) if order == 2 and {t - 1, t + 1} <= set(wrong)} | set(wrong)
    runs = itertools.groupby(range(n), key=lambda t: t in inside)
    return [set(run) for is_inside, run in runs if is_inside]


def mixed(held, gold, guess):
    """Return m^J: the guess at the positions in J, which are `held`, and gold elsewhere."""
    return tuple(guess[t] if t in held else gold[t] for t in range(len(gold)))


def mixed_assignments(jj, gold, guess, max_errors=6, order=1):
    """Return the different m^J that are not the gold labelling."""
    found = [mixed(held, gold, guess) for held in substructures(jj, gold, guess, max_errors, order)]
    return [m for m in dict.fromkeys(found) if m != tuple(gold)]


def weighted(strategy, sizes, beta):
    """Return γ before it is normalised: WM or WMR of these |s|."""
    if strategy == "wm":
        return [(size / max(sizes)) ** beta for size in sizes]
    falling = sorted(sizes, reverse=True)
    n = len(sizes)
    ranks = [[r for r in range(n) if falling[r] == size] for size in sizes]
    return [((n - sum(tied) / len(tied)) / n) ** beta for tied in ranks]


def set_gamma(margins, strategy="wm", beta=1.0, aggressive=True, enforced=True):
    """Return γ, or None where the update backs off."""
    violations = [j for j, s in enumerate(margins) if s <= 0]
    used = violations if aggressive else range(len(margins))
    if not violations or not any(margins[j] for j in used):
        return None
    gamma = [0.0] * len(margins)
    for j, value in zip(used, weighted(strategy, [abs(margins[j]) for j in used], beta), strict=True):
        gamma[j] = value
    # The largest goes first, and of equals the first.
    others = sorted((s, -j) for j, s in enumerate(margins) if s > 0)
    while enforced and sum(g * s for g, s in zip(gamma, margins, strict=True)) > 0:
        gamma[-others.pop()[1]] = 0.0
    total = sum(gamma)
    return [value / total for value in gamma] if total else None


class Swvp(Chain):
    """Learns with the last weights; the guess is given, so that ties need not be broken alike."""

    def __init__(self, jj, max_errors=6, order=1, **gamma):
        super().__init__()
        self._jj = jj
        self._max_errors = max_errors
        self._order = order
        self._gamma = gamma
        self.backoffs = 0
        self.margins = []

    def learn(self, positions, gold, guess, importance=1.0):
        """Learn one sequence; `margins` are those of its mixed assignments then."""
        positions = [list(self._admitted(position)) for position in positions]
        self._know(gold)
        self.margins = []
        if guess == gold:
            return
        found = mixed_assignments(self._jj, gold, guess, self._max_errors, self._order)
        right = self.score(positions, gold, self.last)
        self.margins = [right - self.score(positions, m, self.last) for m in found]
        gamma = set_gamma(self.margins, **self._gamma)
        if gamma is None:
            found, gamma = [tuple(guess)], [1.0]
            self.backoffs += 1
        change = defaultdict(float)
        for m, value in zip(found, gamma, strict=True):
            for key, times in self._phi(positions, gold):
                change[key] += value * times
            for key, times in self._phi(positions, m):
                change[key] -= value * times
        for key, value in change.items():
            self.last[key] += importance * value
