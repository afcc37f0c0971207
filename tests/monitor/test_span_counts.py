import numpy as np
import pytest
from hypothesis import given, settings

from streamlearn.monitor.span_counts import LabelScheme
from tests import naive
from tests.monitor.batches import encode, labelled


def spans_by_type(labels, sequences):
    scheme = LabelScheme()
    scheme.grow(labels)
    counts = scheme.count(*encode(labels, sequences))
    assert (counts.sequences[:, 4:].sum(axis=0) == counts.types.sum(axis=0)).all()
    return {kind: row for kind, row in zip(scheme.types, counts.types.tolist(), strict=True) if any(row)}


@settings(max_examples=300, deadline=None)
@given(labelled())
def test_counts_equal_conlleval_for_every_scheme_valid_or_not(drawn):
    labels, sequences = drawn
    assert spans_by_type(labels, sequences) == naive.conlleval(sequences)


# Gold, predicted, and [gold, predicted, right] of type X, worked by hand from startOfChunk and endOfChunk.
BY_HAND = {
    "a longer guess is wrong": ("B I O O", "B I I O", [1, 1, 0]),
    "an early stop is wrong": ("B I I O", "B I O O", [1, 1, 0]),
    "I after O begins a span as B does": ("O I I", "O B I", [1, 1, 1]),
    "IOB1: B parts two spans": ("I I B I", "I I I I", [2, 1, 0]),
    "IOB1 against IOB2": ("I I B O", "B I B O", [2, 2, 2]),
    "E ends, so I after it begins": ("B E I", "B E B", [2, 2, 2]),
    "B after E begins": ("B E B E", "B E B E", [2, 2, 2]),
    "S is a whole span wherever it stands": ("I S I", "S S S", [3, 3, 3]),
    "E after S begins": ("S E", "S S", [2, 2, 2]),
    "an open span ends with the sequence": ("B I", "B I", [1, 1, 1]),
    "M is I, L is E, U is S": ("B M L U", "B I E S", [2, 2, 2]),
    "all outside": ("O O", "O O", None),
}


@pytest.mark.parametrize(("gold", "predicted", "expected"), BY_HAND.values(), ids=BY_HAND)
def test_known_examples(gold, predicted, expected):
    typed = [[y if y == "O" else f"{y}-X" for y in names.split()] for names in (gold, predicted)]
    labels = sorted({*typed[0], *typed[1]})
    assert spans_by_type(labels, [tuple(typed)]).get("X") == expected


def test_a_change_of_type_ends_one_span_and_begins_another():
    labels = ["O", "B-X", "I-X", "I-Y"]
    gold, predicted = ["B-X", "I-Y", "I-Y"], ["B-X", "I-X", "I-Y"]
    assert spans_by_type(labels, [(gold, predicted)]) == {"X": [1, 1, 0], "Y": [1, 1, 0]}


def test_a_type_keeps_its_hyphens():
    scheme = LabelScheme()
    scheme.grow(["B-creative-work", "I-creative-work", "B"])
    assert scheme.types == ["creative-work", ""]


@pytest.mark.parametrize(
    ("labels", "is_spans"),
    [
        ([], False),
        (["O"], True),
        (["B-NP", "I-NP", "O"], True),
        (["S", "B", "M", "E"], True),
        (["U-LOC", "B-LOC", "L-LOC", "O"], True),
        (["NN", "VB", "DT"], False),
        (["AddressNumber", "StreetName", "O"], False),
        (["b-np", "O"], False),
        (["BX-NP", "O"], False),
        (["nn-tl", "np-tl"], False),
        (["", "O"], False),
    ],
)
def test_a_span_scheme_is_recognised_by_its_labels(labels, is_spans):
    scheme = LabelScheme()
    scheme.grow(labels)
    assert scheme.is_spans is is_spans


def test_labels_that_come_later_keep_the_numbers_of_types():
    at_once, step_by_step = LabelScheme(), LabelScheme()
    labels = ["O", "B-X", "I-X", "B-Y", "I-Y", "B"]
    at_once.grow(labels)
    for n in range(1, len(labels) + 1):
        step_by_step.grow(labels[:n])
    assert step_by_step.types == at_once.types
    y = np.arange(6)
    assert (step_by_step.count(y, y, [0, 6]).types == at_once.count(y, y, [0, 6]).types).all()


def test_another_label_list_is_refused():
    scheme = LabelScheme()
    scheme.grow(["O", "B-X"])
    with pytest.raises(ValueError, match="not a continuation"):
        scheme.grow(["O", "B-Y", "B-X"])
    with pytest.raises(ValueError, match="not a continuation"):
        scheme.grow(["O"])


def test_token_counts_by_label():
    scheme = LabelScheme()
    scheme.grow(["NN", "VB"])
    counts = scheme.count(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0, 3]))
    assert counts.labels.tolist() == [[2, 1, 1], [1, 2, 1], [0, 0, 0]]


def test_no_prediction_is_wrong_and_outside():
    scheme = LabelScheme()
    scheme.grow(["B-X", "O"])
    counts = scheme.count(np.array([0, 1]), np.array([-1, -1]), np.array([0, 2]))
    assert counts.sequences.tolist() == [[1, 0, 2, 0, 1, 0, 0]]
    assert counts.labels.tolist() == [[1, 0, 0], [1, 0, 0], [0, 2, 0]]
