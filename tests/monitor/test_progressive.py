import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import metrics, utils

from streamlearn.monitor.progressive import Progressive
from tests import naive
from tests.monitor.batches import cut, encode, labelled

SIZES = st.lists(st.integers(1, 4), max_size=8)


def fed(labels, batches, window=3):
    progressive = Progressive(window=window, fading_factor=0.2)
    for batch in batches:
        progressive.update(*batch, labels)
    return progressive


def bits(progressive):
    state = progressive.state()
    assert all(array.flags.c_contiguous for array in state.values())
    return {name: (array.shape, array.tobytes()) for name, array in state.items()}


@settings(max_examples=80, deadline=None)
@given(labelled(max_sequences=12), SIZES, SIZES)
def test_micro_batches_of_any_size_give_the_same_bits(drawn, sizes, other_sizes):
    labels, sequences = drawn
    arrays = encode(labels, sequences)
    one, other = (fed(labels, cut(arrays, s)) for s in (sizes, other_sizes))
    assert bits(one) == bits(other)
    assert one.scores() == other.scores()


@settings(max_examples=60, deadline=None)
@given(labelled(min_sequences=2, max_sequences=12), SIZES, st.data())
def test_save_restore_continue_equals_uninterrupted(drawn, sizes, data):
    labels, sequences = drawn
    batches = list(cut(encode(labels, sequences), sizes))
    stop = data.draw(st.integers(0, len(batches)))
    first = fed(labels, batches[:stop])
    resumed = Progressive(window=3, fading_factor=0.2)
    resumed.update(*batches[0], labels)
    resumed.restore(first.state(), labels)
    for batch in batches[stop:]:
        resumed.update(*batch, labels)
    assert bits(resumed) == bits(fed(labels, batches))
    assert resumed.scores() == fed(labels, batches).scores()


@settings(max_examples=60, deadline=None)
@given(labelled(min_sequences=1, max_sequences=10))
def test_scores_are_those_of_river(drawn):
    labels, sequences = drawn
    scores = fed(labels, [encode(labels, sequences)]).scores()
    for name, part in (("lifetime", sequences), ("recent", sequences[-3:])):
        accuracy, f1 = metrics.Accuracy(), metrics.F1()
        whole = utils.Rolling(metrics.Accuracy, window_size=3) if name == "recent" else metrics.Accuracy()
        for gold, predicted in part:
            whole.update(True, gold == predicted)
            for y, z in zip(gold, predicted, strict=True):
                accuracy.update(y, z)
        for gold_spans, predicted_spans, right in naive.conlleval(part).values():
            f1.update(True, True, w=right)
            f1.update(True, False, w=gold_spans - right)
            f1.update(False, True, w=predicted_spans - right)
        assert scores[f"accuracy/token/{name}"] == accuracy.get()
        assert scores[f"accuracy/sequence/{name}"] == whole.get()
        assert scores[f"f1/micro/{name}"] == f1.get()


def test_fading_weighs_each_sequence_by_its_age():
    labels, right = ["NN", "VB"], np.array([1, 1, 0, 1])
    progressive = Progressive(fading_factor=0.1)
    progressive.update(np.zeros(4, np.int32), 1 - right, np.arange(5), labels)
    scores = progressive.scores()
    weights = 0.9 ** np.arange(3, -1, -1)
    assert scores["accuracy/token/fading"] == pytest.approx((weights @ right) / weights.sum())


def test_only_labels_that_mark_spans_have_an_f1():
    one = np.array([0, 1])
    for labels, marks_spans in ((["O", "B-X"], True), (["NN", "VB"], False)):
        assert ("f1/micro/recent" in fed(labels, [(one, one, one)]).scores()) == marks_spans


def test_another_window_continues_with_the_past_that_both_hold():
    labels = ["NN", "VB"]
    gold, predicted, offsets = np.zeros(6, np.int32), np.array([1, 1, 0, 1, 0, 0]), np.arange(7)
    state = fed(labels, [(gold, predicted, offsets)], window=4).state()
    for window, expected in ((2, 1.0), (3, 2 / 3), (4, 3 / 4), (10, 3 / 4)):
        progressive = Progressive(window=window)
        progressive.restore(state, labels)
        assert progressive.scores()["accuracy/sequence/recent"] == pytest.approx(expected)
        assert progressive.scores()["accuracy/sequence/lifetime"] == 0.5


def test_the_hour_forgets_what_is_older():
    labels, now = ["NN", "VB"], [0.0]
    progressive = Progressive(clock=lambda: now[0])
    for now[0], predicted in ((60.0, 1), (3000.0, 0)):
        progressive.update(np.array([0]), np.array([predicted]), np.array([0, 1]), labels)
    assert progressive.last_hour()["accuracy/token/hour"] == 0.5
    now[0] = 60.0 + 3600.0
    assert progressive.last_hour()["accuracy/token/hour"] == 1.0
    now[0] = 9000.0
    assert progressive.last_hour() == {}
    progressive.update(np.array([0]), np.array([0]), np.array([0, 1]), labels)
    assert progressive.last_hour()["accuracy/token/hour"] == 1.0


def test_a_restored_state_has_learned_nothing_in_the_last_hour():
    labels, one = ["NN", "VB"], np.array([0, 1])
    progressive = fed(labels, [(one, one, one)])
    progressive.restore(progressive.state(), labels)
    assert progressive.last_hour() == {}


def test_impossible_windows_are_refused():
    with pytest.raises(ValueError, match="window"):
        Progressive(window=0)
    with pytest.raises(ValueError, match="fading_factor"):
        Progressive(fading_factor=1.5)


def test_nothing_seen_has_no_score():
    empty = Progressive()
    assert empty.scores() == empty.last_hour() == {}
    empty.restore(empty.state(), [])
    assert empty.scores() == {}
