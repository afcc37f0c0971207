import numpy as np
import pytest

from streamlearn.data import Example
from streamlearn.errors import Reason
from streamlearn.features.values import stable_id
from tests.learners.build import from_rows, make_bench


def make_encoder(templates=("U:%x[0,w.lower]", "U:%x[-1,pos]/%x[0,w]"), **options):
    return make_bench(templates, **options).encoder


def test_a_batch_holds_ids_by_view_labels_and_importance():
    examples = [from_rows([("The", "D"), ("cat", "N")], ["O", "B"], 0.5), from_rows([("A", "D")], ["I"], 2.0)]
    batch, accepted, rejected = make_encoder().encode(examples)
    assert batch.starts.tolist() == [0, 2, 3]
    wanted = [["the", "D", "The"], ["cat", "N", "cat"], ["a", "D", "A"]]
    assert batch.values.tolist() == [[stable_id(text) for text in row] for row in wanted]
    assert batch.labels.tolist() == [0, 1, 2]
    assert batch.labels_known.tolist() == [2, 3]
    assert batch.importance.tolist() == [0.5, 2.0]
    assert (accepted, rejected) == (examples, [])


def test_types_are_those_that_kernels_are_compiled_for():
    for encoder, example in (
        (make_encoder(), from_rows([("a", "x")], ["O"])),
        (make_encoder(()), Example({}, ["O"], [{"a": 0.5}])),
    ):
        for learn in (True, False):
            batch, _, _ = encoder.encode([example], learn)
            types = [array.dtype for array in batch[:8]]
            assert types == [
                np.int64, np.uint64, np.uint64, np.int64, np.float64, np.int32, np.int32, np.float64
            ]  # fmt: skip


def test_ready_made_features_are_flattened_and_values_kept_only_where_one_is_not_1():
    encoder = make_encoder(())
    named = Example({}, ["O", "O"], [["a", "b"], []])
    batch, _, _ = encoder.encode([named, Example({}, ["O"], [{"a": 1.0}])])
    assert batch.attributes.tolist() == [stable_id(name) for name in "aba"]
    assert batch.attribute_starts.tolist() == [0, 2, 2, 3]
    assert batch.attribute_values.size == 0
    batch, _, _ = encoder.encode([named, Example({}, ["O"], [{"a": -0.5}])])
    assert batch.attribute_values.tolist() == [1.0, 1.0, -0.5]


def test_a_batch_to_be_predicted_needs_no_labels_and_learns_none():
    bench = make_bench(["U:%x[0,w]"])
    batch, accepted, rejected = bench.encoder.encode(
        [from_rows([("a", "x")]), from_rows([("a", "x")], ["NEW"])], learn=False
    )
    assert (batch.labels.size, batch.labels_known.size, len(accepted), rejected) == (0, 0, 2, [])
    assert bench.labels.names == []


def test_the_first_column_may_come_as_tokens():
    encoder = make_encoder(["U:%x[0,w]"])
    batch, _, _ = encoder.encode([Example({"tokens": ["a"]}, ["O"])])
    assert batch.values.tolist() == [[stable_id("a")]]


@pytest.mark.parametrize(
    ("templates", "example", "reason", "message"),
    [
        (["U:%x[0,pos]"], Example({"tokens": ["a"]}, ["O"]), Reason.MISSING_COLUMN,
         "no column 'pos'; the record has tokens"),
        (["U:%x[0,w]"], Example({}, ["O"], [["a"]]), Reason.MISSING_COLUMN,
         "no column 'w'; the record has ready-made features"),
        ([], Example({"w": ["a"]}, ["O"]), Reason.MISSING_COLUMN,
         "no ready-made features, and no template that reads a column"),
        (["B"], Example({"w": ["a"]}, ["O"]), Reason.MISSING_COLUMN,
         "no ready-made features, and no template that reads a column"),
        (["U:%x[0,w]"], Example({"w": ["a"]}), Reason.MISSING_LABELS, "no labels to learn from"),
        (["U:%x[0,w]"], Example({"w": []}, []), Reason.EMPTY, "no tokens"),
        ([], Example({}, [], []), Reason.EMPTY, "no tokens"),
        (["U:%x[0,w]"], Example({"w": ["a"]}, ["O", "O"]), Reason.LENGTH, "2 labels for 1 tokens"),
        (["U:%x[0,w]%x[0,pos]"], Example({"w": ["a"], "pos": []}, ["O"]), Reason.LENGTH,
         "columns of unequal lengths"),
    ],
)  # fmt: skip
def test_an_example_that_cannot_be_learned_is_rejected_by_reason_and_the_others_stay(
    templates, example, reason, message
):
    good = from_rows([("a", "x")], ["O"]) if templates and templates != ["B"] else Example({}, ["O"], [["a"]])
    bench = make_bench(templates)
    batch, accepted, [(place, error)] = bench.encoder.encode([good, example, good])
    assert (place, error.reason, str(error)) == (1, reason, message)
    assert accepted == [good, good]
    assert batch.starts.tolist() == [0, 1, 2]
    assert batch.labels_known.tolist() == [1, 1]
    assert bench.labels.names == ["O"]


def test_a_label_too_many_rejects_only_its_sequence():
    bench = make_bench(["U:%x[0,w]"], max_labels=1)
    rows = [("a", "x")]
    batch, _, [(place, error)] = bench.encoder.encode(
        [from_rows(rows, ["O"]), from_rows(rows, ["X"]), from_rows(rows, ["O"])]
    )
    assert (place, error.reason) == (1, Reason.LABELS_FULL)
    assert batch.labels.tolist() == [0, 0]


def test_nothing_to_encode_is_an_empty_batch():
    batch, accepted, rejected = make_encoder().encode([])
    assert (batch.starts.tolist(), batch.values.shape, accepted, rejected) == ([0], (0, 3), [], [])
