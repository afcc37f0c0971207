"""How a stream is cut into batches, and how far encoding runs ahead, changes no bit of the state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learners.build import make_bench
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences

STREAMS = {ready_made: make_stream(40, seed=5, ready_made=ready_made) for ready_made in (False, True)}


def bench_for(ready_made, **options):
    return make_bench([] if ready_made else TEMPLATES, **options)


def learn_in_order(bench, batches):
    """Encode, then learn, one batch after the other."""
    said = []
    for batch in batches:
        encoded = bench.tagger.encode(batch)
        said += bench.tagger.learn_batch(encoded.batch).predicted.tolist()
    return said


def learn_ahead(bench, batches):
    """Encode the next batch before the one before is learned, as the daemon does."""
    said, waiting = [], None
    for batch in batches:
        encoded = bench.tagger.encode(batch)
        if waiting is not None:
            said += bench.tagger.learn_batch(waiting.batch).predicted.tolist()
        waiting = encoded
    return said + bench.tagger.learn_batch(waiting.batch).predicted.tolist()


def assert_same(one, two):
    assert differences(one.tagger.state(), two.tagger.state()) == []
    assert one.tagger.gauges() == two.tagger.gauges()


@pytest.mark.parametrize("ready_made", [False, True], ids=["templates", "ready-made"])
@pytest.mark.parametrize("learn", [learn_in_order, learn_ahead])
@settings(max_examples=20, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 15), max_size=12),
    room=st.sampled_from([(500, 500), (9, 5)]),
    names=st.sampled_from([10_000, 30]),
)
def test_any_cut_gives_the_same_predictions_and_the_same_state(ready_made, learn, sizes, room, names):
    stream = STREAMS[ready_made]
    whole = bench_for(ready_made, room=room, names=names)
    other = bench_for(ready_made, room=room, names=names, cache=3)
    assert learn(other, cut(stream, sizes)) == learn_in_order(whole, [stream])
    assert_same(whole, other)


@settings(max_examples=20, deadline=None)
@given(at=st.integers(1, 38))
def test_a_state_taken_while_encoding_ran_ahead_holds_nothing_of_what_was_not_learned(at):
    stream = STREAMS[False]
    ahead, plain = bench_for(False), bench_for(False)
    learn_in_order(plain, [stream[:at]])
    first = ahead.tagger.encode(stream[:at])
    later = ahead.tagger.encode(stream[at:])
    ahead.tagger.learn_batch(first.batch)
    state = ahead.tagger.state()
    assert differences(plain.tagger.state(), state) == []
    assert ahead.tagger.gauges() == plain.tagger.gauges()

    ahead.tagger.learn_batch(later.batch)
    resumed = bench_for(False)
    resumed.tagger.restore(state)
    learn_in_order(resumed, [stream[at:]])
    assert differences(ahead.tagger.state(), resumed.tagger.state()) == []


def test_sequences_that_are_rejected_leave_no_trace():
    stream = STREAMS[False]
    clean, dirty = bench_for(False, max_labels=3), bench_for(False, max_labels=3)
    kept = dirty.tagger.encode(stream)
    assert 0 < len(kept.rejected) < len(stream)
    dirty.tagger.learn_batch(kept.batch)
    clean.tagger.learn_many(kept.accepted)
    assert differences(clean.tagger.state(), dirty.tagger.state()) == []
    assert np.count_nonzero(kept.batch.labels_known > 3) == 0
