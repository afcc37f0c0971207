"""Labels in any scheme, with the mark first or last, are learned as one scheme and written as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.features.labels import LabelSet
from streamlearn.features.scheme_conversion import EVIDENCE, convert, detect_scheme
from streamlearn.kernels.spans import MARKS
from streamlearn.label_names import read_labels
from streamlearn.monitor.scores import Scores

# One labelling in each scheme: spans of one, two and three tokens, two of one type side by side.
SAME = {
    "iob1": ["I-X", "O", "I-X", "I-X", "B-X", "I-Y", "I-Y", "I-Y", "O"],
    "bio": ["B-X", "O", "B-X", "I-X", "B-X", "B-Y", "I-Y", "I-Y", "O"],
    "iobes": ["S-X", "O", "B-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "O"],
    "bmes": ["S-X", "O", "B-X", "E-X", "S-X", "B-Y", "M-Y", "E-Y", "O"],
    "bilou": ["U-X", "O", "B-X", "L-X", "U-X", "B-Y", "I-Y", "L-Y", "O"],
}
labellings = st.lists(
    st.sampled_from(["O", *(f"{mark}-{kind}" for mark in "BIESMLU" for kind in "XY")]), min_size=1, max_size=8
)


def suffixed(labels):
    return [f"{name.type}-{name.mark}" if name.type else name.mark for name in read_labels(labels)]


@pytest.mark.parametrize("write", [list, suffixed], ids=["mark first", "mark last"])
@pytest.mark.parametrize("source", SAME)
@pytest.mark.parametrize("target", SAME)
def test_every_scheme_converts_to_every_other(source, target, write):
    assert convert(write(SAME[source]), target, 0)[0] == write(SAME[target])


@pytest.mark.parametrize("model", ["bio", "iobes"])
@pytest.mark.parametrize("data", SAME)
def test_labels_come_back_from_the_model_as_the_data_has_them(data, model):
    labels = LabelSet(scheme=model)
    learned = [labels.names[y] for y in labels.encode(SAME[data]).numbers]
    assert learned == SAME[model]
    assert labels.restored(learned, data) == SAME[data]


@pytest.mark.parametrize("scheme", SAME)
def test_the_scheme_of_the_data_is_detected_although_some_sequences_contradict_it(scheme):
    labels = LabelSet()
    good = [labels.encode(SAME[scheme]).evidence for _ in range(9)]
    odd = labels.encode(SAME["bio" if scheme == "iob1" else "iob1"]).evidence
    assert detect_scheme(np.concatenate([*good, odd]).sum(axis=0, dtype=np.int64)) == scheme


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (["B-PER", "L-PER", "O", "B-MISC"], "bilou"),
        (["I-X", "E-X", "O", "E-X"], "iobes"),
        (["B-X", "M-X", "E-X", "O", "B-X"], "bmes"),
    ],
)
def test_a_variant_without_marks_of_single_tokens_is_detected_by_its_letters(labels, scheme):
    evidence = LabelSet().encode(labels).evidence.sum(axis=0, dtype=np.int64)
    assert detect_scheme(evidence) == scheme


@pytest.mark.parametrize("labels", [["O", "O"], ["NN", "VBZ"], ["B-X", "NN"]])
def test_labels_that_tell_nothing_are_of_no_detected_scheme_or_the_simplest(labels):
    evidence = LabelSet().encode(labels).evidence.sum(axis=0, dtype=np.int64)
    assert detect_scheme(evidence) in (None, "bio")
    assert detect_scheme(np.zeros(EVIDENCE, np.int64)) is None


def f1(gold, predicted):
    names = list(dict.fromkeys([*gold, *predicted]))
    scores = Scores()
    y, z = (np.array([names.index(label) for label in labels]) for labels in (gold, predicted))
    scores.update(names, y, z, np.array([0, len(gold)]))
    report = scores.report()
    return report["f1"], report["per_label"]


@given(gold=labellings, data=st.data(), scheme=st.sampled_from(list(SAME)))
def test_a_conversion_changes_no_span_score_of_any_labelling_valid_or_not(gold, data, scheme):
    predicted = data.draw(st.lists(st.sampled_from(gold), min_size=len(gold), max_size=len(gold)))
    converted = [convert(labels, scheme, 0)[0] for labels in (gold, predicted)]
    assert f1(*converted) == f1(gold, predicted)
    # What was converted is valid: to convert it again changes nothing.
    assert convert(converted[0], scheme, 0)[0] == converted[0]


@given(sequences=st.lists(labellings, min_size=1, max_size=6), model=st.sampled_from(["bio", "iobes", None]))
def test_many_sequences_at_once_get_the_labels_of_one_by_one(sequences, model):
    labels = LabelSet(scheme=model)
    single = [labels.encode(sequence) for sequence in sequences]
    starts = np.cumsum([0, *map(len, sequences)])
    found = labels.find([label for sequence in sequences for label in sequence], starts)
    assert found.numbers.tolist() == [y for one in single for y in one.numbers.tolist()]
    assert found.evidence.tolist() == [one.evidence[0].tolist() for one in single]


@given(sequences=st.lists(labellings, min_size=2, max_size=6), at=st.integers(1, 5))
def test_a_restored_set_numbers_converted_labels_as_an_uninterrupted_one(sequences, at):
    whole, first, second = LabelSet(scheme="bio"), LabelSet(scheme="bio"), LabelSet(scheme="bio")
    expected = [whole.encode(sequence).numbers.tolist() for sequence in sequences]
    got = [first.encode(sequence).numbers.tolist() for sequence in sequences[:at]]
    second.restore(first.names)
    got += [second.encode(sequence).numbers.tolist() for sequence in sequences[at:]]
    assert got == expected


def test_what_belongs_to_no_scheme_is_kept_and_separates_spans():
    assert convert(["I-X", "NN", "I-X"], "bio", 0)[0] == ["B-X", "NN", "B-X"]


def test_the_other_names_tell_where_the_mark_is():
    assert [name.type for name in read_labels(["S-B", "S-I", "PER-B"])] == ["S", "S", "PER"]
    assert [name.type for name in read_labels(["S-B", "I-B", "B-PER"])] == ["B", "B", "PER"]
    assert [name and name.mark for name in read_labels(["B_LOC", "NN", "b-x", "", "GPE-LOC"])] == [
        "B", None, None, None, None,
    ]  # fmt: skip


def test_every_mark_that_names_may_have_is_known_to_the_scores():
    assert {read_labels([f"{mark}-X"])[0].mark for mark in MARKS} == set(MARKS)
