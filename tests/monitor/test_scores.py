import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.monitor.scores import Scores
from tests import naive
from tests.monitor.batches import cut, encode, labelled


def report_of(labels, sequences):
    scores = Scores()
    scores.update(labels, *encode(labels, sequences))
    return scores.report()


def test_the_report_that_conlleval_prints():
    # conlleval.pl: accuracy:  75.00%; precision:  50.00%; recall:  66.67%; FB1:  57.14
    gold = ["B-NP", "I-NP", "O", "B-VP", "B-NP", "I-NP", "I-NP", "O"]
    predicted = ["B-NP", "I-NP", "O", "B-VP", "B-NP", "I-NP", "O", "B-NP"]
    report = report_of(["O", "B-NP", "I-NP", "B-VP"], [(gold[:4], predicted[:4]), (gold[4:], predicted[4:])])
    assert report == {
        "sequences": 2,
        "tokens": 8,
        "token_accuracy": 0.75,
        "precision": 0.5,
        "recall": pytest.approx(2 / 3),
        "f1": pytest.approx(4 / 7),
        "per_label": {
            "NP": {"precision": pytest.approx(1 / 3), "recall": 0.5, "f1": pytest.approx(0.4), "support": 2},
            "VP": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 1},
        },
    }


def test_labels_that_are_no_spans_are_scored_by_token():
    report = report_of(["NN", "VB", "DT"], [(["NN", "NN", "VB"], ["NN", "VB", "VB"])])
    assert report["precision"] is report["recall"] is report["f1"] is None
    assert report["token_accuracy"] == pytest.approx(2 / 3)
    assert report["per_label"] == {
        "NN": {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2},
        "VB": {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1},
    }


def test_spans_without_types_have_a_name():
    report = report_of(["S", "B", "E"], [(["S", "B", "E"], ["S", "S", "S"])])
    assert report["per_label"]["_"]["support"] == 2
    assert report["precision"] == pytest.approx(1 / 3)


def test_nothing_gives_zeros_and_never_divides_by_zero():
    assert Scores().report() == {
        "sequences": 0,
        "tokens": 0,
        "token_accuracy": 0.0,
        "precision": None,
        "recall": None,
        "f1": None,
        "per_label": {},
    }
    report = report_of(["O", "B-NP"], [(["O"], ["O"])])
    assert (report["precision"], report["recall"], report["f1"]) == (0.0, 0.0, 0.0)


@settings(max_examples=60, deadline=None)
@given(labelled(min_sequences=1), st.lists(st.integers(1, 4), max_size=6))
def test_batches_of_any_size_give_one_report_and_conlleval_agrees(drawn, sizes):
    labels, sequences = drawn
    whole = report_of(labels, sequences)
    scores = Scores()
    for batch in cut(encode(labels, sequences), sizes):
        scores.update(labels, *batch)
    assert scores.report() == whole
    found = naive.conlleval(sequences)
    assert {kind or "_": row[0] for kind, row in found.items()} == {
        kind: score["support"] for kind, score in whole["per_label"].items()
    }


def test_labels_may_grow_between_batches():
    scores = Scores()
    one = np.array([0, 1])
    scores.update(["O", "B-X"], one, one, one)
    scores.update(["O", "B-X", "B-Y"], np.array([2]), np.array([2]), one)
    assert {name: row["support"] for name, row in scores.report()["per_label"].items()} == {"Y": 1}
