"""The last weight vectors vote, as they do over dictionaries of strings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.learners.build import from_rows, last_perceptron, make, make_bench
from tests.learners.streams import TEMPLATES, make_stream
from tests.learners.test_perceptron import streams, tags, words
from tests.states import differences

KINDS = ["U00:%x[0,0]", "*01:%x[0,1]", "B02:%x[-1,0]", "B", "T"]


@pytest.mark.parametrize("vectors", [1, 2, 3, 50])
@settings(max_examples=20, deadline=None)
@given(stream=streams(st.tuples(words, tags), max_sequences=20))
def test_labels_are_elected_as_over_strings(vectors, stream):
    bench, reference = (
        make_bench(KINDS, learner=make("voted", vectors=vectors)),
        naive.VotedPerceptron(vectors),
    )
    for rows, labels, weight in stream:
        positions = naive.template_features(KINDS, rows)
        wanted = reference.elected(positions) if reference.labels else {None}
        [predicted] = bench.tagger.learn_many([from_rows(rows, labels, weight)])
        assert (predicted and tuple(predicted)) in wanted
        reference.learn(positions, labels, weight)
        newest = bench.named(*bench.learner.weights())
        assert newest == {key: value for key, value in reference.last.items() if value}


def test_one_vector_is_the_perceptron_with_its_last_weights():
    one, last = (
        make_bench(TEMPLATES, learner=make("voted", vectors=1)),
        make_bench(TEMPLATES, learner=last_perceptron),
    )
    for example in make_stream(80):
        assert one.tagger.learn_many([example]) == last.tagger.learn_many([example])
    weights = [bench.learner.weights()._asdict() for bench in (one, last)]
    assert differences(*weights) == []


def test_more_vectors_say_other_things_than_one():
    one, many = (make_bench(TEMPLATES, learner=make("voted", vectors=vectors)).tagger for vectors in (1, 20))
    stream = make_stream(80)
    assert one.learn_many(stream) != many.learn_many(stream)
