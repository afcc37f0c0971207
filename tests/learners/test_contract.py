import pytest

from tests.learners.build import MakeLearner, averaged_perceptron, last_perceptron
from tests.learners.contract import LearnerContract

LEARNERS = [averaged_perceptron, last_perceptron]


class TestEveryLearner(LearnerContract):
    @pytest.fixture(params=LEARNERS, ids=lambda make: make.__name__)
    def learner(self, request: pytest.FixtureRequest) -> MakeLearner:
        return request.param
