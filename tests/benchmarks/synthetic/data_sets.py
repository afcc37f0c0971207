"""The data sets: samples from hidden Markov models of the paper's setups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamlearn.data import Example
from streamlearn.demo.hmm import HMM, SETUPS

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """Sequences to learn, to choose settings with, and to test on: the paper's, unless for a trial."""

    train: int = 7000
    dev: int = 2000
    test: int = 1000


@dataclass(frozen=True, eq=False)
class DataSet:
    """One data set: sequences of 8 positions, and the accuracy of the true model.

    Attributes
    ----------
    words, labels : int64[N, 8] of train, dev and test.
    ceiling : token accuracy of posterior decoding with the true model, on dev and on test.
    """

    words: tuple[Integers, Integers, Integers]
    labels: tuple[Integers, Integers, Integers]
    ceiling: tuple[float, float]

    @classmethod
    def draw(cls, setup: int, number: int, sizes: Sizes) -> "DataSet":
        """Draw data set `number` of a setup; it is the same every time."""
        rng = np.random.default_rng((setup, number))
        model = HMM.draw(SETUPS[setup], rng)
        labels, words = model.sample(sizes.train + sizes.dev + sizes.test, rng)
        cuts = [sizes.train, sizes.train + sizes.dev]
        word_parts, label_parts = np.split(words, cuts), np.split(labels, cuts)
        guessed = [model.posterior(part).argmax(axis=2) for part in word_parts[1:]]
        ceiling = [float((g == y).mean()) for g, y in zip(guessed, label_parts[1:], strict=True)]
        return cls(tuple(word_parts), tuple(label_parts), tuple(ceiling))

    def examples(self, part: int, order: int = 0) -> list[Example]:
        """Return train (0), dev (1) or test (2) as drawn, or in the order of a shuffle of this number."""
        words, labels = self.words[part], self.labels[part]
        if order:
            places = np.random.default_rng(order).permutation(len(words))
            words, labels = words[places], labels[places]
        return [
            Example({"w": [f"x{w}" for w in x]}, [f"y{y}" for y in gold])
            for x, gold in zip(words.tolist(), labels.tolist(), strict=True)
        ]
