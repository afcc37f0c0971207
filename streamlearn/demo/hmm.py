"""Labelled sequences from a hidden Markov model, as in the synthetic experiments of the SWVP paper.

Dror & Reichart 2016, "The Structured Weighted Violations Perceptron Algorithm", section 6 and its setups 1-3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Example

LENGTH = 8
_BLOCK = 256


@dataclass(frozen=True, slots=True)
class Setup:
    """Probabilities of a model; each row is a random permutation of them, filled up with zeros.

    Attributes
    ----------
    n_labels, n_words : hidden states C_y and observed ones C_x.
    spellings : number of strings, all equally likely, for one observed state: this multiplies the
        vocabulary without changing how much a word says about the labels.
    transition : non-zero entries of a row of P(y' | y).
    emission : non-zero entries of a row of P(x | y).
    """

    n_labels: int
    n_words: int
    transition: tuple[float, ...]
    emission: tuple[float, ...]
    spellings: int = 1


SETUPS = {
    1: Setup(3, 5, (0.7, 0.2, 0.1), (0.75, 0.1, 0.05, 0.05, 0.05)),
    2: Setup(3, 5, (0.5, 0.3, 0.2), (0.6, 0.15, 0.1, 0.1, 0.05)),
    # The paper's emissions sum to 0.9 here; they are normalised.
    3: Setup(7, 20, (0.7, 0.2, 0.1), (0.4, 0.2, 0.1, 0.1, 0.1)),
}


class HMM:
    """A first-order hidden Markov model with a uniform start.

    Parameters
    ----------
    transition : float64[L, L], P(y' | y) in row y.
    emission : float64[L, W], P(x | y) in row y.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> labels, words = HMM.draw(SETUPS[1], rng).sample(1000, rng)
    >>> labels.shape, words.shape
    ((1000, 8), (1000, 8))
    """

    def __init__(self, transition: NDArray[np.float64], emission: NDArray[np.float64]) -> None:
        self.transition = transition
        self.emission = emission
        self._next_label = np.cumsum(transition, axis=1)
        self._word = np.cumsum(emission, axis=1)

    @classmethod
    def draw(cls, setup: Setup, rng: np.random.Generator) -> Self:
        """Return a random model: each row is a random permutation of the setup's probabilities."""
        return cls(
            _permuted_rows(setup.transition, (setup.n_labels, setup.n_labels), rng),
            _permuted_rows(setup.emission, (setup.n_labels, setup.n_words), rng),
        )

    def sample(
        self, count: int, rng: np.random.Generator, length: int = LENGTH
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return labels and words of `count` sequences, each int64[count, length]."""
        labels = np.empty((count, length), np.int64)
        labels[:, 0] = rng.integers(len(self.transition), size=count)
        for t in range(1, length):
            labels[:, t] = _choose(self._next_label[labels[:, t - 1]], rng)
        return labels, _choose(self._word[labels], rng)

    def posterior(self, words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return P(y_t | x), float64[N, T, L], for words int64[N, T]: forward-backward, scaled at each t."""
        emitted = self.emission[:, words].transpose(1, 2, 0)
        forward, backward = emitted.copy(), np.ones_like(emitted)
        for t in range(1, words.shape[1]):
            forward[:, t] *= _normalised(forward[:, t - 1]) @ self.transition
            back = emitted[:, -t] * backward[:, -t]
            backward[:, -t - 1] = _normalised(back @ self.transition.T)
        return _normalised(forward * backward)

    def ceiling(self, count: int = 4000) -> float:
        """Return an estimate of the Bayes-optimal token accuracy, which no tagger can exceed on average.

        The best prediction at each position is its most probable label given the whole sequence, and it is
        correct with that probability; the mean over `count` sequences is accurate to about 0.2 %.
        """
        _, words = self.sample(count, np.random.default_rng(0))
        return float(self.posterior(words).max(axis=2).mean())


class ShiftingStream:
    """An endless stream of labelled sequences from one model, then from another with the same names.

    Parameters
    ----------
    setup : of both models.
    change_at : number of sequences from the first model.
    seed : equal seeds produce equal streams; each iteration starts at the beginning.

    Attributes
    ----------
    before, after : the two models.
    """

    def __init__(self, setup: Setup, change_at: int, seed: int) -> None:
        self.change_at = change_at
        self._seed = seed
        rng = np.random.default_rng(seed)
        self.before = HMM.draw(setup, rng)
        self.after = HMM.draw(setup, rng)
        self._labels = np.array([f"y{y}" for y in range(setup.n_labels)], object)
        self._spellings = setup.spellings
        self._words = np.array([f"x{x}" for x in range(setup.n_words * setup.spellings)], object)

    def __iter__(self) -> Iterator[Example]:
        """Yield sequences with the column `w` and labels."""
        rng = np.random.default_rng((self._seed, 1))
        rest, whole = self.change_at % _BLOCK, self.change_at // _BLOCK
        sizes = chain((_BLOCK for _ in range(whole)), [rest] if rest else [])
        for size in sizes:
            yield from self._block(self.before, size, rng)
        while True:
            yield from self._block(self.after, _BLOCK, rng)

    def _block(self, model: HMM, size: int, rng: np.random.Generator) -> Iterator[Example]:
        labels, words = model.sample(size, rng)
        words = words * self._spellings + rng.integers(self._spellings, size=words.shape)
        for x, y in zip(self._words[words].tolist(), self._labels[labels].tolist(), strict=True):
            yield Example({"w": x}, y)


def _permuted_rows(
    probabilities: tuple[float, ...], shape: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.float64]:
    rows = np.zeros(shape)
    rows[:, : len(probabilities)] = probabilities
    return _normalised(rng.permuted(rows, axis=1))


def _choose(cumulative: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random draw from each distribution along the last axis."""
    # By rounding the last sum may be less than 1; a draw beyond it would name an item that does not exist.
    drawn = rng.random((*cumulative.shape[:-1], 1)) * cumulative[..., -1:]
    chosen: NDArray[np.int64] = np.count_nonzero(cumulative <= drawn, axis=-1)
    return chosen


def _normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    normalised: NDArray[np.float64] = rows / rows.sum(axis=-1, keepdims=True)
    return normalised
