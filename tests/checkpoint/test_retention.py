import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.checkpoint.retention import Retention
from streamlearn.errors import ConfigError

DAY = 86400


def test_without_history_the_newest_stay() -> None:
    assert Retention(newest=3).kept(dict.fromkeys(range(5), 0.0)) == {2, 3, 4}


def test_fewer_than_three_are_refused() -> None:
    with pytest.raises(ConfigError, match="got 2, wanted 3 or more"):
        Retention(newest=2)


def test_one_a_day_stays_for_so_many_days_with_a_checkpoint() -> None:
    created = {seq: seq * DAY / 4 for seq in range(40)} | {40: 30 * DAY}
    assert Retention(newest=3, daily=4).kept(created) == {31, 35, 38, 39, 40}


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=60).map(sorted), st.integers(0, 5), st.integers(0, 5)
)
def test_what_stays_does_not_depend_on_how_often_it_was_pruned(
    hours: list[int], hourly: int, daily: int
) -> None:
    retention = Retention(3, hourly, daily)
    created = {seq: hour * 600.0 for seq, hour in enumerate(hours)}
    left: dict[int, float] = {}
    for seq, at in created.items():
        left[seq] = at
        left = {kept: left[kept] for kept in retention.kept(left)}
    assert left.keys() == retention.kept(created)
