import pytest

from tests.learners import build
from tests.learners.build import MakeLearner
from tests.learners.contract import LearnerContract

LEARNERS = [
    "averaged_perceptron",
    "last_perceptron",
    "fading_perceptron",
    "swvp_of_blocks",
    "swvp_of_single_positions",
    "swvp_of_all_sets",
    "swvp_of_spans",
    "margin_perceptron",
    "voted_perceptron",
    "passive_aggressive",
    "arow",
    "averaged_arow",
    "adf",
    "adf_with_growing_windows",
    "adf_with_fading_average",
    "sgd",
    "adagrad",
    "adagrad_looking_again",
]
# Their search knows no triples of labels.
WITH_A_BEAM = ["beam_perceptron", "early_perceptron"]


class TestEveryLearner(LearnerContract):
    @pytest.fixture(params=LEARNERS)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return getattr(build, request.param)


class TestEveryLearnerWithABeam(LearnerContract):
    @pytest.fixture(params=WITH_A_BEAM)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return getattr(build, request.param)

    @pytest.fixture(params=["templates", "ready-made"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return request.param
