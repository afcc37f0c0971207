import pytest

from streamlearn.daemon.bad_records import BadRecord, Tolerance
from streamlearn.errors import Reason, StreamError
from streamlearn.events import Rejected
from tests.stream.memory import MemoryRecord


def poll(flags: str, first: int = 0) -> tuple[list[MemoryRecord], list[BadRecord]]:
    """Make records, one a character; x is a bad one."""
    records = [MemoryRecord("orders", 0, first + n, 0, None, b"") for n in range(len(flags))]
    rejected: list[BadRecord] = [
        (record, Rejected("orders", 0, record.offset, Reason.SYNTAX, "no JSON"))
        for record, flag in zip(records, flags, strict=True)
        if flag == "x"
    ]
    return records, rejected


def stops(tolerance: Tolerance, *polls: str) -> bool:
    first = 0
    try:
        for flags in polls:
            tolerance.admit(*poll(flags, first))
            first += len(flags)
    except StreamError:
        return True
    return False


def test_without_a_limit_all_may_be_bad() -> None:
    assert not stops(Tolerance(None, 4), "xxxxxxxx")


def test_zero_stops_at_the_first_and_says_which() -> None:
    with pytest.raises(StreamError, match=r"orders\[0\]@2: no JSON \(syntax\); fix the record, or skip it"):
        Tolerance(0.0, 1).admit(*poll("..x."))


@pytest.mark.parametrize(
    ("polls", "is_stopped"),
    [
        (["xx..xx..xx.."], False),
        (["xxx."], True),
        ([".xxx...."], True),
        (["....xx", "x..."], True),
        (["....xx", "..", "xx"], False),
        (["x"] * 3, True),
    ],
)
def test_any_window_counts_however_the_stream_is_cut(polls: list[str], is_stopped: bool) -> None:
    assert stops(Tolerance(0.5, 4), *polls) is is_stopped
    assert stops(Tolerance(0.5, 4), "".join(polls)) is is_stopped
    assert stops(Tolerance(0.5, 4), *"".join(polls)) is is_stopped


def test_a_state_is_of_what_was_settled_and_fits_another_window() -> None:
    before, shorter, longer = Tolerance(0.5, 4), Tolerance(0.5, 2), Tolerance(0.5, 8)
    before.admit(*poll("x..x"))
    before.settle()
    before.admit(*poll(".x", 4))
    state = before.state()
    assert state["bad_records_ago"].tolist() == [4, 1]
    for after in (shorter, longer):
        after.restore(state)
    assert shorter.state()["bad_records_ago"].tolist() == [1]
    assert longer.state()["bad_records_ago"].tolist() == [4, 1]
    assert stops(shorter, "x")
    assert not stops(longer, "xx")
    assert stops(longer, "x")
