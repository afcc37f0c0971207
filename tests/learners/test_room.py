"""Memory for weights: what there is room for, and what happens when more labels leave less of it."""

import numpy as np
import pytest

from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError
from streamlearn.learners.room import Room
from tests.learners.build import make, make_bench
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences

KINDS = ("perceptron", "swvp", "pa", "arow", "voted", "adf", "sgd", "adagrad")


def bytes_of(learner):
    arrays = [*learner._weights.arrays[:3]]
    for name in ("_gradients", "_scratch"):
        arrays += getattr(learner, name, ())[:3]
    return sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("labels", [1, 2, 9, 31, 32, 33, 40, 150, 1000])
@pytest.mark.parametrize("has_cells", [False, True])
@pytest.mark.parametrize("pairs", [0, 1 << 20])
def test_everything_there_is_room_for_takes_no_more_than_the_memory(labels, has_cells, pairs):
    memory = 1 << 30
    room = Room(memory, 2, (1 << 21, 1 + pairs), False, has_cells)
    capacity = labels + labels // 4 + 1
    nodes, edges = room.rows(labels)
    row = 8 * 2 * (1 + capacity) * capacity
    cells = room.cells(labels) * 28
    # One more row is the plain transition.
    dense = row if room.sparse(labels) else edges * row
    assert nodes * 8 * 2 * capacity + dense + cells <= memory
    assert nodes > 0
    assert edges > (1 if pairs else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_come_after_features_neither_fail_nor_take_more_memory(kind):
    memory = 8 << 20
    bench = make_bench(TEMPLATES, learner=make(kind, memory), room=(100_000, 100_000), max_labels=1000)
    few = make_stream(30, labels=3)
    many = [example(f"w{n}", f"M{n}") for n in range(60)]
    for part in (few, many, few):
        bench.tagger.learn_many(part)
        assert bytes_of(bench.learner) <= memory
    assert len(bench.tagger.predict_many(many)) == 60
    assert bench.tagger.gauges()["labels_known"] == 64


@pytest.mark.parametrize("kind", KINDS)
def test_dropped_rows_do_not_depend_on_how_the_stream_is_cut(kind):
    stream = make_stream(30, labels=3) + [example(f"w{n}", f"M{n}") for n in range(40)] + make_stream(30)

    def empty(memory):
        return make_bench(TEMPLATES, learner=make(kind, memory), room=(10_000, 10_000), max_labels=1000)

    # So little that 46 labels leave room for only some rows of pairs, but for sequences of 6 positions.
    memory = 105_000 * (6 + empty(1 << 30).tagger.room.planes)

    def learned(parts):
        bench = empty(memory)
        for part in parts:
            bench.tagger.learn_many(part)
            state = bench.tagger.state()
            bench = empty(memory)
            bench.tagger.restore(state)
        return bench

    one, other = learned([stream]), learned(cut(stream, [11, 25, 3, 7, 20]))
    assert one.tagger.rows_used < one.space.sizes or kind in ("perceptron", "swvp")
    assert differences(one.tagger.state()["learner"], other.tagger.state()["learner"]) == []


def test_a_sequence_whose_working_arrays_exceed_the_memory_is_rejected_with_the_reason():
    tagger = make_bench(TEMPLATES, learner=make("adf", 1 << 20), max_labels=1000).tagger
    tagger.learn_many([example(f"w{n}", f"L{n}") for n in range(20)])
    longest = tagger.room.positions(21)
    for learn in (True, False):
        encoded = tagger.encode([long_example(longest), long_example(longest + 1)], learn=learn)
        assert len(encoded.accepted) == 1
        ((place, error),) = encoded.rejected
        assert (place, error.reason) == (1, Reason.TOO_LARGE)
        assert "features.memory" in str(error)


def test_labels_without_room_for_their_transitions_are_rejected():
    memory = 1 << 20
    bench = make_bench(["U00:%x[0,w]", "B"], learner=make("adf", memory), max_labels=1000)
    most = bench.tagger.room.labels
    bench.labels._max_labels = most
    bench.tagger.learn_many([Example({"w": ["w"], "pos": ["p"]}, [f"L{n}"]) for n in range(most)])
    with pytest.raises(RecordError, match=r"features\.memory"):
        bench.tagger.learn_many([Example({"w": ["w"], "pos": ["p"]}, ["one more"])])
    assert bytes_of(bench.learner) <= memory


def example(word, label):
    return Example({"w": [word] * 3, "pos": ["p"] * 3}, [label, "O", label])


def long_example(length):
    return Example({"w": ["w"] * length, "pos": ["p"] * length}, ["O"] * length)


def test_a_thousand_labels_with_pair_features_learn_in_little_memory():
    rng = np.random.default_rng(0)
    words = rng.zipf(1.3, 4000) % 3000
    tokens = [f"w{word}" for word in words]
    gold = [f"L{word * 7 % 1000}" for word in words]
    examples = [
        Example({"w": tokens[at : at + 20], "pos": gold[at : at + 20]}, gold[at : at + 20])
        for at in range(0, 4000, 20)
    ]
    memory = 256 << 20
    bench = make_bench(
        ["U00:%x[0,w]", "B01:%x[0,w]", "B"],
        learner=make("perceptron", memory),
        room=(1 << 21, 1 << 20),
        max_labels=1000,
    )
    bench.tagger.learn_many(examples)
    assert bytes_of(bench.learner) + bench.learner._weights.arrays.cells.values.nbytes <= memory
    assert bench.tagger.gauges()["features_refused"] == 0
    found = bench.tagger.predict_many(examples)
    right = sum(
        a == b for path, e in zip(found, examples, strict=True) for a, b in zip(path, e.labels, strict=True)
    )
    assert right > 3600
