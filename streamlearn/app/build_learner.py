"""Learners, from a section of the configuration."""

from collections.abc import Callable
from typing import Any

from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.learners.adagrad import AdaGrad
from streamlearn.learners.adf import Adf
from streamlearn.learners.arow import Arow
from streamlearn.learners.base import Learner
from streamlearn.learners.chain import ChainSpec, averaging_of
from streamlearn.learners.passive_aggressive import PassiveAggressive
from streamlearn.learners.perceptron import Perceptron
from streamlearn.learners.replay import Replay
from streamlearn.learners.sgd import Sgd
from streamlearn.learners.swvp import Swvp
from streamlearn.learners.voted import VotedPerceptron

# Each takes the chain, how predictions average where that can be chosen, and its settings by name.
LEARNERS: dict[str, Callable[..., Learner]] = {
    "perceptron": Perceptron,
    "voted": VotedPerceptron,
    "swvp": Swvp,
    "pa": PassiveAggressive,
    "arow": Arow,
    "adf": Adf,
    "sgd": Sgd,
    "adagrad": AdaGrad,
}


def build_learner(section: LearnerConfig, spec: ChainSpec) -> Learner:
    """Return a learner that has learned nothing yet."""
    settings: dict[str, Any] = section.model_dump(exclude={"kind", "replay_tokens", "replay_looks"})
    if "average" in settings:
        settings["averaging"] = averaging_of(settings.pop("average"), settings.pop("half_life"))
    learner = LEARNERS[section.kind](spec, **settings)
    return Replay(learner, section.replay_tokens, section.replay_looks) if section.replay_tokens else learner
