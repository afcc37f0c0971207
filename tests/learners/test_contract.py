import pytest

from tests.learners import build
from tests.learners.build import MakeLearner
from tests.learners.contract import LearnerContract

LEARNERS = [
    build.averaged_perceptron,
    build.last_perceptron,
    build.fading_perceptron,
    build.swvp_of_blocks,
    build.swvp_of_single_positions,
    build.swvp_of_all_sets,
    build.swvp_of_spans,
    build.margin_perceptron,
    build.voted_perceptron,
    build.passive_aggressive,
    build.arow,
    build.averaged_arow,
    build.adf,
    build.adf_with_growing_windows,
    build.adf_with_fading_average,
    build.sgd,
    build.adagrad,
    build.adagrad_looking_again,
]
# Their search knows no triples of labels.
WITH_A_BEAM = [build.beam_perceptron, build.early_perceptron]


class TestEveryLearner(LearnerContract):
    @pytest.fixture(params=LEARNERS, ids=lambda make: make.__name__)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return request.param


class TestEveryLearnerWithABeam(LearnerContract):
    @pytest.fixture(params=WITH_A_BEAM, ids=lambda make: make.__name__)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return request.param

    @pytest.fixture(params=["templates", "ready-made"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return request.param
