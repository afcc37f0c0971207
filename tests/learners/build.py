"""Taggers to test with, small and with their parts at hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamlearn.data import Example
from streamlearn.features.encoder import Encoder
from streamlearn.features.labels import LabelSet
from streamlearn.features.space import FeatureSpace
from streamlearn.features.templates import parse_templates
from streamlearn.features.values import NameBook
from streamlearn.learners.adagrad import AdaGrad
from streamlearn.learners.adf import Adf
from streamlearn.learners.arow import Arow
from streamlearn.learners.base import Learner
from streamlearn.learners.passive_aggressive import PassiveAggressive
from streamlearn.learners.perceptron import Perceptron
from streamlearn.learners.replay import Replay
from streamlearn.learners.sgd import Sgd
from streamlearn.learners.swvp import Swvp
from streamlearn.learners.tagger import Tagger
from streamlearn.learners.voted import VotedPerceptron

MakeLearner = Callable[[FeatureSpace], Learner]


def perceptron(**settings: Any) -> MakeLearner:
    return lambda space: Perceptron(*chain(space), **settings)


def chain(space: FeatureSpace) -> tuple[tuple[int, int], bool, bool]:
    """Give what every learner is made for."""
    return space.capacities, space.plain_edges, space.second_order


def averaged_perceptron(space: FeatureSpace) -> Learner:
    return Perceptron(*chain(space), average="all")


def last_perceptron(space: FeatureSpace) -> Learner:
    return Perceptron(*chain(space), average="none")


def fading_perceptron(space: FeatureSpace) -> Learner:
    # So short a half-life that plane 1 is scaled down every 26 sequences.
    return Perceptron(*chain(space), average="exponential", half_life=0.05)


def swvp(**settings: Any) -> MakeLearner:
    return lambda space: Swvp(*chain(space), **settings)


def swvp_of_blocks(space: FeatureSpace) -> Learner:
    return swvp(substructures="blocks")(space)


def swvp_of_single_positions(space: FeatureSpace) -> Learner:
    return swvp(substructures="single", gamma="wmr", violations="balanced", beta=2.0, average="none")(space)


def swvp_of_all_sets(space: FeatureSpace) -> Learner:
    return swvp(substructures="all", max_errors=3, average="exponential", half_life=5.0)(space)


def swvp_of_spans(space: FeatureSpace) -> Learner:
    return swvp(substructures="spans", violations="balanced", condition="published")(space)


def margin_perceptron(space: FeatureSpace) -> Learner:
    return Perceptron(*chain(space), cost=2.0)


def beam_perceptron(space: FeatureSpace) -> Learner:
    return Perceptron(*chain(space), beam=2)


def early_perceptron(space: FeatureSpace) -> Learner:
    return Perceptron(*chain(space), beam=3, violation="early", average="none")


def voted(vectors: int) -> MakeLearner:
    return lambda space: VotedPerceptron(*chain(space), vectors=vectors)


def voted_perceptron(space: FeatureSpace) -> Learner:
    return voted(4)(space)


def passive_aggressive(space: FeatureSpace) -> Learner:
    return PassiveAggressive(*chain(space), aggressiveness=0.3, rival="max_loss")


def averaged_arow(space: FeatureSpace) -> Learner:
    return Arow(*chain(space), regularization=0.5, average="all")


def arow(space: FeatureSpace) -> Learner:
    return Arow(*chain(space), regularization=3.0)


def replaying(learner: MakeLearner, tokens: int = 40, looks: int = 2) -> MakeLearner:
    return lambda space: Replay(learner(space), tokens, looks)


# Windows are short and L2 is strong, so that much is owed.


def adf(space: FeatureSpace) -> Learner:
    return Adf(*chain(space), rate=0.3, window=4, sigma=1.5)


def adf_with_growing_windows(space: FeatureSpace) -> Learner:
    return Adf(
        *chain(space), rate=0.3, window=3, growth=1.5, min_rate=0.1, late_start=True,
        average="all",
    )  # fmt: skip


def adf_with_fading_average(space: FeatureSpace) -> Learner:
    return Adf(
        *chain(space),
        rate=0.3,
        window=4,
        sigma=1.5,
        average="exponential",
        half_life=5.0,
    )


def sgd(space: FeatureSpace) -> Learner:
    return Sgd(*chain(space), rate=0.3, decay=0.9, per=4, sigma=1.5)


def adagrad(space: FeatureSpace) -> Learner:
    return AdaGrad(*chain(space), rate=0.3, sigma=1.5)


def adagrad_looking_again(space: FeatureSpace) -> Learner:
    return replaying(adagrad)(space)


@dataclass(frozen=True)
class Bench:
    """A tagger, and what it is made of."""

    tagger: Tagger
    encoder: Encoder
    labels: LabelSet
    space: FeatureSpace
    learner: Learner
    names: NameBook

    def named(self, node: Any, edge: Any, triple: Any) -> dict[tuple[str, ...], float]:
        """Give weights that are not 0 by feature and labels, as `tests.naive` does."""
        labels = self.labels.names
        found = {
            (self.space.node_name(row), labels[y]): node[row, y]
            for row, y in zip(*node.nonzero(), strict=True)
        }
        for row, slot, y in zip(*edge.nonzero(), strict=True):
            pair = (labels[y],) if slot == 0 else (labels[slot - 1], labels[y])
            found[self.space.edge_name(row), *pair] = edge[row, slot, y]
        for y_prev2, slot, y in zip(*triple.nonzero(), strict=True):
            found["T", labels[y_prev2], labels[slot - 1], labels[y]] = triple[y_prev2, slot, y]
        return found


def make_bench(
    templates: Sequence[str] = (),
    columns: Sequence[str] = ("w", "pos"),
    learner: MakeLearner = averaged_perceptron,
    room: tuple[int, int] = (500, 500),
    names: int = 10_000,
    cache: int = 1000,
    known: Sequence[str] = (),
    max_labels: int = 64,
) -> Bench:
    book = NameBook(names)
    parsed = parse_templates("\n".join(templates), columns)
    space = FeatureSpace(parsed, *room, book)
    labels = LabelSet(known, max_labels=max_labels)
    encoder = Encoder(columns, space.views, labels, cache, book)
    made = learner(space)
    return Bench(Tagger(encoder, labels, space, made), encoder, labels, space, made, book)


def from_rows(rows: Sequence[Sequence[str]], labels: list[str] | None = None, weight: float = 1.0) -> Example:
    """Give an example of the columns w and pos from one pair a token."""
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("w", "pos"))}
    return Example(columns, labels, weight=weight)


def without_names(state: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a tagger's state holds for inspection only."""
    features = {key: value for key, value in state["features"].items() if key != "names"}
    return state | {"features": features}


def book_of(state: dict[str, Any]) -> set[bytes]:
    """Give the strings that a tagger's state holds for inspection."""
    book = state["features"]["names"]
    ends = np.cumsum(book["lengths"], dtype=np.int64)
    return {bytes(part) for part in np.split(book["text"], ends[:-1])}
