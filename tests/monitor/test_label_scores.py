import numpy as np
import pytest
from hypothesis import given, settings
from river import metrics

from streamlearn.events import LabelScore
from streamlearn.monitor.label_scores import BLOCK
from streamlearn.monitor.progressive import Progressive
from streamlearn.monitor.span_counts import CONFUSED
from tests.monitor.batches import encode, labelled


def by_label(labels, gold, predicted):
    """Score sequences of one token each."""
    progressive = Progressive()
    progressive.update(np.array(gold), np.array(predicted), np.arange(len(gold) + 1), labels)
    return progressive.by_label


@pytest.mark.parametrize("name", ["VB", "other", "_", "all others", "", "total", "None"])
def test_precision_recall_and_f1_of_each_label_whatever_its_name_and_of_all_others(name):
    scores, others = by_label(["NN", name, "DT", "IN"], [0, 0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 0, 2, 2]).scores(
        2
    )
    assert scores == {
        "NN": LabelScore(2 / 3, 2 / 3, pytest.approx(2 / 3), 3),
        name: LabelScore(0.5, 0.5, 0.5, 2),
    }
    assert others == LabelScore(0.5, 0.5, 0.5, 2)


def test_without_others_there_is_no_score_of_them():
    assert by_label(["NN", "VB"], [0, 1], [0, 1]).scores(2)[1] is None


def test_a_type_never_has_the_name_of_spans_without_a_type():
    progressive = Progressive()
    labels = ["B", "B-_", "B-__"]
    progressive.update(*encode(labels, [(labels, labels)]), labels)
    scores, _ = progressive.by_label.scores(5)
    assert {name: score.support for name, score in scores.items()} == {"___": 1, "_": 1, "__": 1}


def test_where_labels_mark_spans_types_are_scored():
    progressive = Progressive()
    gold, predicted = ["B-X", "I-X", "B-Y"], ["B-X", "B-Y", "B-Y"]
    labels = ["B-X", "I-X", "B-Y"]
    progressive.update(*encode(labels, [(gold, predicted)]), labels)
    assert progressive.by_label.scores(5)[0]["Y"] == LabelScore(0.5, 1.0, pytest.approx(2 / 3), 1)
    assert progressive.by_label.scores(5)[0]["X"].f1 == 0.0


@settings(max_examples=50, deadline=None)
@given(labelled(min_sequences=1))
def test_the_mean_over_labels_is_that_of_river(drawn):
    labels = [f"t{n}" for n in range(len(drawn[0]))]
    name = dict(zip(drawn[0], labels, strict=True))
    sequences = [([name[y] for y in gold], [name[z] for z in predicted]) for gold, predicted in drawn[1]]
    macro = metrics.MacroF1()
    for gold, predicted in sequences:
        for y, z in zip(gold, predicted, strict=True):
            macro.update(y, z)
    progressive = Progressive()
    progressive.update(*encode(labels, sequences), labels)
    assert progressive.by_label.macro_f1() == pytest.approx(macro.get())


def test_the_most_frequent_mistakes_come_first_and_none_that_did_not_happen():
    scores = by_label(["NN", "VB", "DT"], [0, 0, 1, 2, 2, 2], [1, 1, 1, 0, 2, 2])
    assert scores.confusions(10) == [("NN", "VB", 2), ("DT", "NN", 1)]
    assert scores.confusions(1) == [("NN", "VB", 2)]


def test_labels_beyond_the_first_and_no_prediction_are_one_in_confusions():
    labels = [f"t{n}" for n in range(CONFUSED + 5)]
    scores = by_label(labels, [CONFUSED + 1, 0, 0], [0, CONFUSED + 3, -1])
    assert scores.confusions(10) == [("t0", None, 2), (None, "t0", 1)]


@pytest.mark.parametrize(("later", "expected"), [(0, 1), (BLOCK - 1, 1), (2 * BLOCK - 1, 1), (2 * BLOCK, 0)])
def test_what_is_older_than_two_blocks_is_forgotten(later, expected):
    gold = np.zeros(1 + later, int)
    gold[0] = 1
    scores = by_label(["NN", "VB"], gold, np.zeros_like(gold))
    assert sum(count for *_, count in scores.confusions(10)) == expected
    assert ("VB" in scores.scores(10)[0]) == bool(expected)
