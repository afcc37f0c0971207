import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.errors import Reason, RecordError
from streamlearn.features.labels import LabelSet


def numbers(labels, sequence):
    return labels.encode(sequence).numbers.tolist()


def test_labels_are_numbered_in_the_order_of_first_sighting_after_the_known_ones():
    labels = LabelSet(known=["O", "B"])
    assert numbers(labels, ["I", "B", "X", "I"]) == [2, 1, 3, 2]
    assert labels.names == ["O", "B", "I", "X"]


def test_labels_are_mapped_and_the_others_become_one():
    labels = LabelSet(mapping={"B-NP": "B", "I-NP": "I"}, other="O")
    assert numbers(labels, ["B-VP", "B-NP", "O", "I-NP", "B-PP"]) == [0, 1, 0, 2, 0]
    assert labels.names == ["O", "B", "I"]
    assert [labels.mapped(label) for label in ("I-NP", "?")] == ["I", "O"]


def test_without_other_a_label_that_the_mapping_lacks_stays_as_it_is():
    labels = LabelSet(mapping={"A": "B"})
    assert numbers(labels, ["A", "B", "C"]) == [0, 0, 1]
    assert labels.names == ["B", "C"]


def test_a_label_too_many_rejects_its_sequence_and_nothing_of_it_is_learned():
    labels = LabelSet(max_labels=2)
    labels.encode(["A"])
    with pytest.raises(RecordError) as refused:
        labels.encode(["B", "A", "C"])
    assert refused.value.reason is Reason.LABELS_FULL
    assert str(refused.value) == "label 'B' would be number 2 of 2 (labels.max, features.memory)"
    assert labels.names == ["A"]
    assert numbers(labels, ["B", "A"]) == [1, 0]
    assert numbers(labels, ["A", "B"]) == [0, 1]


@given(
    sequences=st.lists(st.lists(st.integers(0, 40).map(str), min_size=1, max_size=6), max_size=20),
    max_labels=st.integers(1, 4),
    to=st.integers(1, 5),
)
def test_however_many_labels_the_data_has_the_set_and_its_shortcut_stay_bounded(sequences, max_labels, to):
    labels = LabelSet(mapping={str(n): f"L{n % to}" for n in range(41)}, max_labels=max_labels)
    for sequence in sequences:
        try:
            found = numbers(labels, sequence)
        except RecordError:
            continue
        assert [labels.names[y] for y in found] == [labels.mapped(label) for label in sequence]
    assert len(labels.names) <= max_labels
    assert len(labels._places) <= 4 * max_labels + 6


def test_a_restored_set_goes_on_with_the_same_numbers():
    labels = LabelSet(mapping={"a": "A"}, known=["Z"])
    labels.restore(["O", "A"])
    assert numbers(labels, ["a", "N", "O", "Z"]) == [1, 2, 0, 3]
