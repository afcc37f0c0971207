"""No number in a configuration ends in a traceback, or in scores that the daemon would not have reached."""

import math
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from streamlearn.app.evaluate import Evaluation
from streamlearn.app.tune import Candidate, CrossValidation
from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.data import Example
from streamlearn.errors import NonFiniteWeightsError

SECTIONS = {kind.model_fields["kind"].default: kind for kind in get_args(get_args(LearnerConfig)[0])}
EXTREMES = [0, 5e-324, 1e-300, 1e-150, 1e-12, 1.0, 1e12, 1e100, 1e150, 1e300, 1e308, -1.0]
SEQUENCES = [
    (["a", "b", "c"], ["B-X", "I-X", "O"]),
    (["d", "e"], ["B-Y", "O"]),
    (["e", "a"], ["O", "B-X"]),
] * 8
STREAM = [Located(Example({"w": words}, labels), "f", line) for line, (words, labels) in enumerate(SEQUENCES)]


def config(**learner):
    features = {"columns": ["w"], "templates": "U0:%x[0,w]\nB", "max_features": 64, "max_edge_features": 8}
    return Config.model_validate({"features": features, "learner": learner})


def numbers_of(section):
    return [name for name, field in section.model_fields.items() if field.annotation in (float, float | None)]


@pytest.mark.parametrize("kind", SECTIONS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_extreme_numbers_are_refused_or_learned_with_or_stop_with_a_clear_error(kind, data):
    names = numbers_of(SECTIONS[kind])
    given_numbers = {name: st.sampled_from(EXTREMES) for name in names}
    chosen = data.draw(st.fixed_dictionaries({}, optional=given_numbers))
    average = {"average": "exponential"} if "average" in SECTIONS[kind].model_fields else {}
    try:
        wanted = config(kind=kind, **average, **chosen)
    except ValidationError:
        return
    evaluation = Evaluation(wanted, pytest.fail)
    try:
        evaluation.learn(STREAM)
    except NonFiniteWeightsError:
        return
    report = evaluation.score(STREAM)
    assert 0.0 <= report["token_accuracy"] <= 1.0
    tagger = evaluation.tagger
    batch = tagger.encode([located.example for located in STREAM], learn=False).batch
    for found in tagger.explain_batch(batch, marginals=tagger.is_probabilistic, k_best=2):
        assert found is None or found.probability is None or math.isfinite(found.probability)


def cross_validation(*rates):
    points = [Candidate((f"learner.rate={rate}",), config(kind="sgd", rate=rate)) for rate in rates]
    return CrossValidation(points, STREAM, folds=2, seed=0)


def test_a_setting_that_ruins_the_weights_is_never_the_winner():
    validation = cross_validation(1e308, 0.1)
    for _ in validation.run(1):
        pass
    first, last = validation.result().trials
    assert first.settings == ("learner.rate=0.1",)
    assert first.mean > 0
    assert not last.is_finite
    assert math.isnan(last.mean)
    assert math.isnan(last.sd)


def test_when_every_setting_ruins_the_weights_tuning_ends_with_the_error_of_the_daemon():
    validation = cross_validation(1e308)
    for _ in validation.run(1):
        pass
    with pytest.raises(NonFiniteWeightsError, match="every setting") as raised:
        validation.result()
    assert raised.value.exit_code == 65
