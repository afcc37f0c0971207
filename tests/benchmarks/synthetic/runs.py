"""One method on one data set."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from streamlearn.app.build_learner import build_learner
from streamlearn.app.build_tagger import build_tagger
from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.config.schema import Config
from streamlearn.kernels.chain.mask import ANYTHING
from streamlearn.learners.base import Learner, Supervision
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.decoding import Decoder
from tests.benchmarks.synthetic.data_sets import DataSet, Sizes
from tests.benchmarks.synthetic.methods import METHODS, Setting

# The paper's features: x_i with y_i, y_i alone, and the pair of labels, alone and with x_i. Its x_i alone is
# the same for all labellings, and its y_{i−1} alone is a sum of pairs.
TEMPLATES = "U00:%x[0,w]\nU01\nB\nB02:%x[0,w]"
# All of the paper's models had converged by then.
PASSES = 10


@dataclass(frozen=True)
class Run:
    """The description of a run.

    Attributes
    ----------
    setup, number : of the data set.
    """

    setup: int
    number: int
    method: str
    sizes: Sizes
    passes: int = PASSES

    @property
    def key(self) -> str:
        """Return a name that identifies the run."""
        sizes = f"{self.sizes.train}/{self.sizes.dev}/{self.sizes.test}"
        return f"setup {self.setup} set {self.number} {self.method} × {self.passes} of {sizes}"


class Encoded:
    """The rows of one data set, with the training set in one order: learners of all settings share them."""

    def __init__(self, data: DataSet, order: int) -> None:
        features = {"columns": ["w"], "templates": TEMPLATES, "max_features": 64, "max_edge_features": 64}
        tagger = build_tagger(Config.model_validate({"features": features}))
        batch = tagger.encode(data.examples(0, order)).batch
        self.space = tagger._space
        self.train = self.space.rows(batch, grow=True)
        self.supervision = Supervision(batch.labels, batch.labels_known, batch.importance, ANYTHING)
        self.held_out = [
            self.space.rows(tagger.encode(data.examples(part), learn=False).batch, grow=False)
            for part in (1, 2)
        ]
        self._numbers = np.array([int(label[1:]) for label in tagger.labels])
        self._gold = [labels.ravel() for labels in data.labels[1:]]

    def accuracies(self, learner: Learner, averaged: bool) -> list[float]:
        """Return token accuracy on dev and test, with a learner's prediction weights or its last."""
        found = []
        for rows, gold in zip(self.held_out, self._gold, strict=True):
            scoring = learner.scoring(rows)
            if not averaged:
                scoring = replace(scoring, plane=0, share=0.0)
            predicted = Decoder(scoring, ANYTHING).best()
            found.append(float((self._numbers[predicted] == gold).mean()))
        return found


def work(_: None, run: Run) -> dict[str, Any]:
    """Return `scores`: for each setting, by column ("last 1", "averaged 10", …) the accuracy on dev and test.

    `ceiling` is that of the true model.
    """
    data, method = _data_set(run.setup, run.number, run.sizes), METHODS[run.method]
    passes = {1} if method.once else {1, run.passes}
    scores = [_scores(_encoded(data, setting.order), setting, passes) for setting in method.settings]
    return {"scores": scores, "ceiling": data.ceiling}


# The methods of one data set come one after the other.
@lru_cache(maxsize=1)
def _data_set(setup: int, number: int, sizes: Sizes) -> DataSet:
    return DataSet.draw(setup, number, sizes)


@lru_cache(maxsize=1)
def _encoded(data: DataSet, order: int) -> Encoded:
    return Encoded(data, order)


def _scores(data: Encoded, setting: Setting, wanted: set[int]) -> dict[str, list[float]]:
    section = TypeAdapter(LearnerConfig).validate_python(dict(setting.learner))
    space = data.space
    learner = build_learner(
        section, ChainSpec(space.capacities, 1 << 32, space.plain_edges, space.second_order)
    )
    found = {}
    for number in range(1, max(wanted) + 1):
        learner.learn_many(data.train, data.supervision)
        if number in wanted:
            found[f"last {number}"] = data.accuracies(learner, averaged=False)
            found[f"averaged {number}"] = data.accuracies(learner, averaged=True)
    return found
