"""Taggers to test with, small and with their parts at hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from streamlearn.app.build_learner import build_learner
from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.data import Example
from streamlearn.features.encoder import Encoder
from streamlearn.features.labels import LabelSet
from streamlearn.features.space import FeatureSpace
from streamlearn.features.templates import parse_templates
from streamlearn.features.values import NameBook
from streamlearn.kernels.chain.cells import NO_CELLS
from streamlearn.learners.base import Learner
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.replay import Replay
from streamlearn.learners.tagger import Tagger

MakeLearner = Callable[[FeatureSpace], Learner]


def make(kind: str, memory: int = 1 << 32, **settings: Any) -> MakeLearner:
    """Return what makes a learner as the configuration would, with its defaults."""
    section: Any = TypeAdapter(LearnerConfig).validate_python({"kind": kind, **settings})
    return lambda space: build_learner(
        section, ChainSpec(space.capacities, memory, space.plain_edges, space.second_order)
    )


perceptron = partial(make, "perceptron")
swvp = partial(make, "swvp")
pa = partial(make, "pa")


def replaying(learner: MakeLearner, tokens: int = 40, looks: int = 2) -> MakeLearner:
    return lambda space: Replay(learner(space), tokens, looks)


averaged_perceptron = perceptron()
last_perceptron = perceptron(average="none")
# So short a half-life that plane 1 is scaled down every 26 sequences.
fading_perceptron = perceptron(average="exponential", half_life=0.05)
margin_perceptron = perceptron(cost=2.0)
beam_perceptron = perceptron(beam=2)
early_perceptron = perceptron(beam=3, violation="early", average="none")
swvp_of_blocks = swvp(substructures="blocks")
swvp_of_single_positions = swvp(
    substructures="single", gamma="wmr", violations="balanced", beta=2.0, average="none"
)
swvp_of_all_sets = swvp(substructures="all", max_errors=3, average="exponential", half_life=5.0)
swvp_of_spans = swvp(substructures="spans", violations="balanced", condition="published")
voted_perceptron = make("voted", vectors=4)
passive_aggressive = pa(aggressiveness=0.3, rival="max_loss")
averaged_arow = make("arow", regularization=0.5, average="all")
arow = make("arow", regularization=3.0)

# Windows are short and L2 is strong, so that idle rows have much to catch up with.
adf = make("adf", rate=0.3, window=4, sigma=1.5, min_rate=0.0)
adf_with_growing_windows = make(
    "adf", rate=0.3, window=3, growth=1.5, min_rate=0.1, late_start=True, average="all"
)
adf_with_fading_average = make(
    "adf", rate=0.3, window=4, sigma=1.5, min_rate=0.0, average="exponential", half_life=5.0
)
sgd = make("sgd", rate=0.3, decay=0.9, per=4, sigma=1.5, min_rate=0.0)
adagrad = make("adagrad", rate=0.3, sigma=1.5)
adagrad_looking_again = replaying(adagrad)


@dataclass(frozen=True)
class Bench:
    """A tagger, and what it is made of."""

    tagger: Tagger
    encoder: Encoder
    labels: LabelSet
    space: FeatureSpace
    learner: Learner
    names: NameBook

    def named(self, node: Any, edge: Any, triple: Any, cells: Any = NO_CELLS) -> dict[tuple[str, ...], float]:
        """Return the weights that are not 0 by feature and labels, as `tests.naive` does: none in cells."""
        assert not len(cells.heads)
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
    made = learner(space)
    encoder = Encoder(columns, space.views, labels, cache, book, made.room.positions)
    return Bench(Tagger(encoder, labels, space, made), encoder, labels, space, made, book)


def from_rows(rows: Sequence[Sequence[str]], labels: list[str] | None = None, weight: float = 1.0) -> Example:
    """Return an example of the columns w and pos from one pair for each token."""
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("w", "pos"))}
    return Example(columns, labels, weight=weight)


def without_names(state: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a tagger's state holds for inspection only."""
    features = {key: value for key, value in state["features"].items() if key != "names"}
    return state | {"features": features}
