import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.updates.interleave import interleave
from tests.learners.build import averaged_perceptron, make_bench, replaying
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences

STREAMS = {ready_made: make_stream(50, seed=7, ready_made=ready_made) for ready_made in (False, True)}


def order_of(lengths, tokens, looks, first=0, count=0):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    order = np.empty((len(lengths) - first) * (1 + looks), np.int64)
    return order[: interleave(starts, first, count, tokens, looks, order)].tolist()


@settings(max_examples=100, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    tokens=st.integers(0, 40),
    looks=st.integers(1, 3),
)
def test_looks_go_back_to_whole_sequences_of_the_last_tokens_only(lengths, tokens, looks):
    order = iter(order_of(lengths, tokens, looks))
    starts = np.cumsum([0, *lengths])
    for i in range(len(lengths)):
        assert next(order) == i
        if i > 0 and lengths[i - 1] <= tokens:
            for _ in range(looks):
                j = next(order)
                assert j < i
                assert starts[i] - starts[j] <= tokens
    assert list(order) == []


def test_every_recent_sequence_has_its_turn():
    order = order_of([1] * 4000, tokens=10, looks=1)
    back = np.bincount([new - old for new, old in zip(order[21::2], order[22::2], strict=True)])
    assert back[0] == 0
    assert len(back) == 11
    assert back[1:].min() > 300


@pytest.mark.parametrize("ready_made", [False, True], ids=["templates", "ready-made"])
def test_it_is_learning_the_drawn_sequences_again(ready_made):
    stream, templates = STREAMS[ready_made], [] if ready_made else TEMPLATES
    replayed = make_bench(templates, learner=replaying(averaged_perceptron))
    replayed.tagger.learn_many(stream)
    plain = make_bench(templates)
    for i in order_of([len(example) for example in stream], tokens=40, looks=2):
        plain.tagger.learn_many([stream[i]])
    again = replayed.tagger.state()["learner"]["learner"]
    assert differences(again, plain.tagger.state()["learner"]) == []


@pytest.mark.parametrize("ready_made", [False, True], ids=["templates", "ready-made"])
@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.integers(1, 15), max_size=12))
def test_any_cut_gives_the_same_predictions_and_the_same_state(ready_made, sizes):
    stream, templates = STREAMS[ready_made], [] if ready_made else TEMPLATES
    whole = make_bench(templates, learner=replaying(averaged_perceptron))
    other = make_bench(templates, learner=replaying(averaged_perceptron), cache=3)
    said = [labels for batch in cut(stream, sizes) for labels in other.tagger.learn_many(batch)]
    assert said == whole.tagger.learn_many(stream)
    assert differences(whole.tagger.state(), other.tagger.state()) == []


def test_what_is_kept_stays_within_its_tokens():
    bench = make_bench(TEMPLATES, learner=replaying(averaged_perceptron, tokens=25))
    for example in STREAMS[False]:
        bench.tagger.learn_one(example, example.labels)
        pool = bench.learner.state()["pool"]
        assert len(pool["labels"]) <= 25
        assert pool["node_starts"][-1] == len(pool["node_rows"])
