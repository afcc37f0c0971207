import numpy as np
import pytest

from streamlearn.data import Example
from streamlearn.errors import CheckpointError, RecordError
from tests.learners.build import from_rows, make_bench, without_names
from tests.learners.streams import TEMPLATES, make_stream
from tests.states import differences


def test_nothing_is_learned_from_nothing():
    tagger = make_bench(TEMPLATES).tagger
    before = tagger.state()
    assert tagger.learn_many([]) == []
    assert tagger.predict_many([]) == []
    assert differences(before, tagger.state()) == []


def test_one_example_that_cannot_be_learned_stops_all_of_its_call():
    tagger = make_bench(TEMPLATES).tagger
    before = tagger.state()
    with pytest.raises(RecordError, match="no labels to learn from"):
        tagger.learn_many([from_rows([("a", "x")], ["O"]), from_rows([("a", "x")])])
    assert differences(before, tagger.state()) == []


def test_labels_come_back_by_name_and_only_for_positions_of_their_sequence():
    tagger = make_bench(["U:%x[0,w]"]).tagger
    pairs = [from_rows([("a", "x"), ("b", "x")], ["A", "B"]), from_rows([("b", "x")], ["B"])]
    assert tagger.learn_many(pairs * 3)[-2:] == [["A", "B"], ["B"]]
    assert tagger.predict_many(pairs) == [["A", "B"], ["B"]]


def test_the_labels_of_an_example_are_ignored_when_it_is_labelled():
    tagger = make_bench(["U:%x[0,w]"]).tagger
    tagger.learn_one(from_rows([("a", "x")]), ["A"])
    assert tagger.predict_one(from_rows([("a", "x")], ["NEW"])) == ["A"]
    assert list(tagger.labels) == ["A"]


def test_the_heaviest_features_are_named_by_label():
    bench = make_bench(["U:%x[0,w]", "*:%x[0,pos]", "B"])
    for word, label in [("a", "A"), ("b", "B"), ("a", "A"), ("b", "B")]:
        bench.tagger.learn_one(from_rows([(word, "x")]), [label])
    weights = bench.learner.weights()
    named = {key: value for key, value in bench.named(*weights).items() if key[1:] == ("B",)}
    heaviest = bench.tagger.heaviest("B", 10)
    assert heaviest == sorted(((k[0], v) for k, v in named.items()), key=lambda pair: -abs(pair[1]))
    assert heaviest[0][0] == "U:b"
    assert bench.tagger.heaviest("B", 1) == heaviest[:1]


def test_a_label_that_was_never_learned_has_no_heaviest_features():
    tagger = make_bench(["U:%x[0,w]"], known=["A", "B"]).tagger
    assert tagger.heaviest("B", 5) == []
    tagger.learn_one(from_rows([("a", "x")]), ["A"])
    tagger.encode([from_rows([("b", "x")], ["C"])])
    assert tagger.heaviest("C", 5) == []


def test_a_restored_state_replaces_everything_that_was_learned_since():
    stream = make_stream(40)
    tagger, plain = make_bench(TEMPLATES).tagger, make_bench(TEMPLATES).tagger
    plain.learn_many(stream[:10])
    state = plain.state()
    plain.learn_many(stream[10:])
    tagger.learn_many(stream)
    tagger.restore(state)
    assert tagger.learn_many(stream[10:]) is not None
    one, two = without_names(tagger.state()), without_names(plain.state())
    assert differences(one, two) == []


def test_a_state_with_more_features_than_there_is_room_for_is_refused():
    tagger = make_bench(TEMPLATES).tagger
    tagger.learn_many(make_stream(20))
    with pytest.raises(CheckpointError, match="room for 5"):
        make_bench(TEMPLATES, room=(5, 5)).tagger.restore(tagger.state())


def test_a_state_goes_on_with_more_room():
    stream = make_stream(40)
    small, large = make_bench(TEMPLATES).tagger, make_bench(TEMPLATES, room=(2000, 900), cache=7).tagger
    small.learn_many(stream[:20])
    large.restore(small.state())
    assert large.learn_many(stream[20:]) == small.learn_many(stream[20:])
    assert differences(large.state()["learner"], small.state()["learner"]) == []


@pytest.mark.parametrize("ready_made", [False, True], ids=["templates", "ready-made"])
def test_a_stream_of_ever_new_values_and_labels_takes_bounded_memory(ready_made):
    stream = make_stream(3000, ready_made=ready_made, words=5000, labels=30)
    templates = [] if ready_made else TEMPLATES
    bench = make_bench(templates, room=(50, 20), names=100, cache=10, max_labels=4)
    arrays = bench.space.capacities
    for at in range(0, len(stream), 100):
        encoded = bench.tagger.encode(stream[at : at + 100])
        if encoded.accepted:
            bench.tagger.learn_batch(encoded.batch)
        assert bench.space.sizes[0] <= 50
        assert bench.space.sizes[1] <= 21
        assert len(bench.names) <= 100
        assert len(bench.labels.names) <= 4
        caches = bench.encoder._caches[True]
        assert all(len(ids) <= 10 for ids in [*caches.columns.values(), caches.attributes])
    assert bench.space.capacities == arrays
    assert bench.tagger.gauges()["features_refused"] > 1000
    sizes = [array.nbytes for array in arrays_of(bench.tagger.state())]
    assert sum(sizes) < 50 * 2 * 4 * 8 + 21 * 2 * 5 * 4 * 8 + 10_000


def arrays_of(state):
    """Return every array of a state tree."""
    if isinstance(state, np.ndarray):
        return [state]
    if isinstance(state, dict):
        return [array for value in state.values() for array in arrays_of(value)]
    return []


def test_examples_of_the_wrong_length_never_reach_a_kernel():
    tagger = make_bench(["U:%x[0,w]"]).tagger
    tagger.learn_one(from_rows([("a", "x")]), ["A"])
    for wrong in (Example({"w": []}), Example({}, None, [])):
        with pytest.raises(RecordError):
            tagger.predict_one(wrong)
    with pytest.raises(RecordError, match="1 labels for 2 tokens"):
        tagger.learn_one(from_rows([("a", "x"), ("b", "x")]), ["A"])
