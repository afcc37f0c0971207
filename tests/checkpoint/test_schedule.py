import pytest

from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.errors import ConfigError


def test_it_is_due_at_once_before_anything_was_checkpointed():
    assert CheckpointSchedule(30.0, 1000).due(0.0, 0)


def test_it_is_due_by_time_or_by_count_whichever_comes_first():
    schedule = CheckpointSchedule(30.0, 1000)
    schedule.done(100.0, 5000)
    assert not schedule.due(129.9, 5999)
    assert schedule.due(130.0, 5001)
    assert schedule.due(100.1, 6000)


def test_it_is_never_due_while_nothing_was_consumed():
    schedule = CheckpointSchedule(30.0, None)
    schedule.done(100.0, 5000)
    assert not schedule.due(1e9, 5000)


def test_a_failed_attempt_is_repeated_after_the_interval_though_nothing_arrives():
    schedule = CheckpointSchedule(30.0, 1000)
    schedule.done(100.0, 5000)
    schedule.failed()
    assert not schedule.due(129.9, 5000)
    assert schedule.due(130.0, 5000)
    schedule.done(130.0, 5000)
    assert not schedule.due(1e9, 5000)


def test_either_interval_can_be_switched_off():
    by_time, by_count = CheckpointSchedule(30.0, None), CheckpointSchedule(None, 10)
    for schedule in (by_time, by_count):
        schedule.done(0.0, 0)
    assert not by_time.due(1.0, 10**9)
    assert not by_count.due(1e9, 9)


def test_intervals_count_from_the_last_attempt():
    schedule = CheckpointSchedule(30.0, 10)
    schedule.done(0.0, 0)
    schedule.done(31.0, 12)
    assert not schedule.due(60.0, 21)
    assert schedule.due(61.0, 13)


@pytest.mark.parametrize(("seconds", "records"), [(0, 1), (-1.0, 1), (float("nan"), 1), (1.0, 0)])
def test_an_interval_that_is_not_positive_is_refused(seconds, records):
    with pytest.raises(ConfigError, match="checkpoint every_"):
        CheckpointSchedule(seconds, records)
