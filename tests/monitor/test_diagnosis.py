"""Every setting that makes all predictions wrong or empty is reported within the first 1,000 sequences."""

import math

import numpy as np
import pytest

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.errors import Reason
from streamlearn.events import Learned, Polled, Rejected, Standing
from streamlearn.monitor.diagnosis import Diagnosis, ExpectedScheme

PARTITION = TopicPartition("t", 0)
POLLED = Polled({}, {}, {}, {PARTITION: PartitionStatus(0, 0, 0)}, connected=True)


def batch(sequences=100, tokens=1000, wrong=100, loss=50.0, **other):
    """Return a batch of a healthy stream; `other` replaces its values."""
    values = {
        "gold": {"O": 800, "B-X": 200},
        "predicted": {"O": 850, "B-X": 150},
        "sightings": 5000, "unknown": 900,
    } | other  # fmt: skip
    lengths, mistakes = np.full(sequences, tokens // sequences), np.zeros(sequences, np.int64)
    mistakes[0] = wrong
    losses = np.full(sequences, loss / sequences)
    return Learned(lengths, mistakes, mistakes > 0, losses, 0.0, 0.0, Standing(), **values)


def diagnosed(events, expected=None):
    """Return the problems present after events, and how many reports there were."""
    reports = []
    diagnosis = Diagnosis(expected, reports.append)
    for event in events:
        diagnosis(event)
    present = {}
    for report in reports:
        present[report.reason] = report
    return {reason: one.message for reason, one in present.items() if one.is_present}, len(reports)


def test_a_healthy_stream_has_no_problem():
    assert diagnosed([batch(loss=100.0 - n) for n in range(40)]) == ({}, 0)


@pytest.mark.parametrize(
    ("reason", "values"),
    [
        ("one_label", {"predicted": {"O": 1000}, "wrong": 200}),
        ("one_label", {"predicted": {}, "wrong": 1000}),
        ("features_unknown", {"unknown": 4900}),
        ("features_unknown", {"sightings": 0, "unknown": 0}),
        ("loss", {"wrong": 300}),
    ],
)
def test_what_is_broken_for_1000_sequences_is_reported_once(reason, values):
    found, reports = diagnosed([batch(**values) for _ in range(10)])
    assert reason in found
    assert reports == len(found)
    assert diagnosed([batch(**values) for _ in range(40)])[1] == reports


def test_a_problem_that_ends_is_reported_as_ended():
    events = [*(batch(predicted={"O": 1000}) for _ in range(10)), *(batch(loss=1.0) for _ in range(5))]
    found, reports = diagnosed(events)
    assert (found, reports) == ({}, 2)


def test_the_first_window_is_not_judged_because_everything_is_new_in_it():
    assert diagnosed([batch(predicted={}, unknown=5000) for _ in range(5)]) == ({}, 0)


def test_rightly_predicting_a_rare_label_nowhere_is_no_problem():
    quiet = {"gold": {"O": 999, "B-X": 1}, "predicted": {"O": 1000}, "wrong": 1}
    assert "one_label" not in diagnosed([batch(**quiet) for _ in range(10)])[0]


def test_a_model_that_has_converged_has_no_problem_although_its_loss_is_constant():
    assert diagnosed([batch(wrong=5) for _ in range(20)]) == ({}, 0)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_reported_at_once(loss):
    assert "loss" in diagnosed([batch(loss=loss)])[0]


def test_gold_labels_outside_of_the_scheme_are_reported_at_once_with_the_scheme_they_look_like():
    found, _ = diagnosed(
        [batch(sequences=80, off_scheme=30, detected_scheme="iob1")],
        ExpectedScheme("bio", "labels.constrain"),
    )
    assert found == {
        "gold_scheme": "38% of 80 gold labellings are no BIO (labels.constrain); is it IOB1? "
        "labels.scheme={data: iob1} converts it"
    }


def test_a_few_mistakes_of_annotators_are_no_problem():
    events = [batch(off_scheme=int(n == 3)) for n in range(20)]
    assert diagnosed(events, ExpectedScheme("bio", "labels.constrain"))[0] == {}


def test_records_that_are_all_rejected_are_reported_after_the_poll_and_no_longer_once_one_is_learned():
    rejected = [Rejected("t", 0, n, Reason.SYNTAX, "no JSON") for n in range(60)]
    assert diagnosed(rejected) == ({}, 0)
    assert diagnosed([*rejected, POLLED])[0] == {
        "records_rejected": "the last 60 records were all rejected (60 syntax)"
    }
    assert diagnosed([*rejected, batch(), POLLED])[0] == {}
    assert diagnosed([*rejected, POLLED, batch(), POLLED])[0] == {}
