import pytest

from tests.learners import build
from tests.learners.build import MakeLearner
from tests.learners.contract import LearnerContract

LEARNERS = [
    build.averaged_perceptron,
    build.last_perceptron,
    build.fading_perceptron,
    build.adf,
    build.adf_with_growing_windows,
    build.adf_with_fading_average,
    build.sgd,
    build.adagrad,
    build.adagrad_looking_again,
]


class TestEveryLearner(LearnerContract):
    @pytest.fixture(params=LEARNERS, ids=lambda make: make.__name__)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return request.param
