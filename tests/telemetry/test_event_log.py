import logging

import pytest

from streamlearn.data import PartitionStatus
from streamlearn.errors import Reason
from streamlearn.events import Drift, Duplicated, StateChanged
from streamlearn.telemetry.event_log import EventLog
from tests.telemetry import examples


@pytest.fixture
def log(clock, caplog):
    caplog.set_level(logging.INFO)
    clock.now = 0.0
    return EventLog(progress_seconds=10, rejects_per_minute=2, clock=clock)


def lines(caplog):
    return [(record.getMessage(), record.fields) for record in caplog.records]


def words(caplog):
    return [event for event, _ in lines(caplog)]


def test_what_an_operator_wants_to_know(log, clock, caplog):
    for event in examples.all_kinds():
        log(event)
    clock.now = 10
    log(examples.polled())
    assert words(caplog) == [
        "state_changed",
        "resumed",
        "broker_connected",
        "record_rejected",
        "records_lost",
        "checkpoint_written",
        "checkpoint_failed",
        "progress",
    ]
    levels = {record.getMessage(): record.levelname for record in caplog.records}
    assert levels["checkpoint_failed"] == levels["records_lost"] == "ERROR"
    assert levels["resumed"] == "WARNING"
    fields = dict(lines(caplog))
    assert fields["record_rejected"]["offset"] == 1841
    assert fields["checkpoint_failed"]["message"] == "no space left on device"


def test_a_partition_without_a_leader_is_logged_once_and_once_more_when_it_has_one(log, caplog):
    leaderless = PartitionStatus(10, None, None, has_leader=False)
    for status in (None, leaderless, leaderless, None, None):
        log(examples.polled(status=status))
    place = {"topic": "orders", "partition": 0}
    note = "waiting for a leader; no records are lost"
    assert lines(caplog)[1:] == [
        ("partition_without_leader", place | {"note": note}),
        ("partition_has_leader", place),
    ]


def test_drift_is_logged_immediately(log, caplog):
    log(examples.learned(drifts=[Drift(500, "error", "adwin", 0.1, 0.6, ("rewarm",))]))
    [(event, fields)] = lines(caplog)
    assert event == "drift"
    assert fields == {
        "signal": "error",
        "detector": "adwin",
        "sequence": 500,
        "before": 0.1,
        "after": 0.6,
        "actions": "rewarm",
    }


def test_a_flood_of_rejects_becomes_a_few_lines_and_a_count(log, clock, caplog):
    for _ in range(1000):
        log(examples.rejected())
    log(examples.rejected(Reason.SYNTAX))
    assert words(caplog) == ["record_rejected"] * 3
    clock.now = 60
    log(examples.polled())
    assert lines(caplog)[3] == ("record_rejected", {"reason": "length", "message": "suppressed 998 more"})
    log(examples.rejected())
    assert lines(caplog)[-1][1]["offset"] == 1841


def test_a_stop_tells_what_was_suppressed(log, caplog):
    for _ in range(3):
        log(examples.rejected())
    log(StateChanged("stopped"))
    assert lines(caplog)[-2][1]["message"] == "suppressed 1 more"
    assert lines(caplog)[-1] == ("state_changed", {"state": "stopped"})


def test_a_lost_connection_is_told_once_and_so_is_its_return(log, caplog):
    for connected in (True, True, False, False, False, True, True):
        log(examples.polled(connected=connected))
    assert words(caplog) == ["broker_connected", "broker_disconnected", "broker_connected"]


def test_a_broker_that_is_away_at_the_start_is_told(log, caplog):
    log(examples.polled(connected=False))
    assert words(caplog) == ["broker_disconnected"]


def test_duplicates_are_counted_in_the_progress_line_if_there_were_any(log, clock, caplog):
    for clock.now, counts in ((5, [2, 3]), (10, []), (15, []), (20, [])):
        for count in counts:
            log(Duplicated(count))
        log(examples.learned())
    told = [fields.get("duplicates_passed_over") for event, fields in lines(caplog) if event == "progress"]
    assert told == [5, None]


def test_speed_counts_neither_compiling_nor_an_idle_stream(log, clock, caplog):
    clock.now = 100
    log(StateChanged("running"))
    log(examples.learned(sequences=50))
    clock.now = 110
    log(examples.polled())
    clock.now = 3600
    log(examples.learned(sequences=100, decode_seconds=1.0, learn_seconds=4.0))
    clock.now = 3605
    log(examples.polled())
    speeds = [fields["sequences_per_second"] for event, fields in lines(caplog) if event == "progress"]
    assert speeds == [5.0, 10.0]


def test_progress_is_logged_at_intervals_and_an_idle_stream_is_quiet(log, clock, caplog):
    log(examples.polled(partitions=2))
    caplog.clear()
    for clock.now in (1, 5, 9, 20):
        log(examples.learned())
    for clock.now in (40, 60, 80):
        log(examples.polled())
    assert lines(caplog) == [
        (
            "progress",
            {
                "sequences_seen": 1002,
                "sequences_per_second": 0.4,
                "tokens_per_second": 1.4,
                "token_accuracy": 0.75,
                "lag_records": 8,
            },
        )
    ]
