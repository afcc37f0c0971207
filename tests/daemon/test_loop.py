"""The loop over an in-memory log and a real store."""

import json
import threading
from pathlib import Path

import pytest

from streamlearn.daemon.bad_records import Tolerance
from streamlearn.data import Record, TopicPartition
from streamlearn.errors import BrokerUnavailableError, CheckpointError, Reason, StreamError
from streamlearn.events import CheckpointDone, Gap, Learned, Polled, Rejected, StateChanged
from tests.daemon.rig import Rig
from tests.sequences import make_examples, to_json
from tests.states import differences
from tests.stream.memory import MemorySource
from tests.waiting import until

ORDERS = TopicPartition("orders", 0)


def filled(count: int, poll: int = 20) -> MemorySource:
    source = MemorySource([ORDERS], max_poll_records=poll)
    for example in make_examples(count):
        source.append(to_json(example))
    return source


def learned_uninterrupted(folder: Path, count: int) -> Rig:
    folder.mkdir()
    rig = Rig(folder, filled(count))
    rig.run(count // 20 + 2)
    return rig


def test_every_record_is_learned_once_and_in_the_last_checkpoint(tmp_path: Path) -> None:
    rig = learned_uninterrupted(tmp_path / "a", 100)
    assert sum(event.sequences for event in rig.of_type(Learned)) == 100
    again = Rig(tmp_path / "a", filled(100))
    assert again.learning.sequences_seen == 100
    assert differences(again.state(), rig.state()) == []
    again.run(3)
    assert again.of_type(Learned) == []
    again.crash()


def test_a_rollback_takes_weights_and_positions_back_together(tmp_path: Path) -> None:
    whole = learned_uninterrupted(tmp_path / "whole", 120)
    folder = tmp_path / "rolled"
    folder.mkdir()
    first = Rig(folder, filled(120), every_records=30)
    first.loop.save()
    for _ in range(7):
        first.loop.turn()
        until(lambda: not first.writer.busy)
    seqs = [generation.seq for generation in first.store.checkpoints()]
    first.store.roll_back(seqs[0])
    first.crash()
    second = Rig(folder, filled(120))
    assert 0 <= second.learning.sequences_seen < 120
    second.run(10)
    assert differences(second.state(), whole.state()) == []


def test_checkpoint_zero_is_written_before_the_first_poll(tmp_path: Path) -> None:
    source = filled(10)
    rig = Rig(tmp_path, source)
    rig.loop.save()
    assert source.polls == 0
    assert [event.seq for event in rig.of_type(CheckpointDone)] == [0]
    rig.crash()


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 5, 6, 7])
def test_a_crash_at_any_turn_replays_to_the_same_bits(tmp_path: Path, turns: int) -> None:
    whole = learned_uninterrupted(tmp_path / "whole", 120)
    folder = tmp_path / "crashed"
    folder.mkdir()
    first = Rig(folder, filled(120), every_records=30)
    first.loop.save()
    for _ in range(turns):
        first.loop.turn()
    first.crash()
    second = Rig(folder, filled(120), every_records=30)
    second.run(10)
    assert differences(second.state(), whole.state()) == []
    assert second.learning.sequences_seen == 120


@pytest.mark.parametrize("poll", [1, 7, 500])
def test_how_many_records_a_poll_brings_changes_no_bit(tmp_path: Path, poll: int) -> None:
    whole = learned_uninterrupted(tmp_path / "whole", 90)
    folder = tmp_path / "other"
    folder.mkdir()
    rig = Rig(folder, filled(90, poll))
    rig.run(95)
    assert differences(rig.state(), whole.state()) == []


def test_bad_records_are_told_by_reason_and_the_others_are_learned(tmp_path: Path) -> None:
    source = MemorySource([ORDERS])
    good = make_examples(3)
    for value in (to_json(good[0]), b"{", None, b'{"tokens": ["a"]}', to_json(good[1]), b"\xff"):
        source.append(value)
    source.append(b'{"columns": {"w": ["a"]}, "labels": ["O"]}')
    source.append(to_json(good[2]))
    rig = Rig(tmp_path, source)
    rig.run(3)
    assert {(event.offset, event.reason) for event in rig.of_type(Rejected)} == {
        (1, Reason.SYNTAX),
        (2, Reason.TOMBSTONE),
        (3, Reason.MISSING_LABELS),
        (5, Reason.ENCODING),
        (6, Reason.MISSING_COLUMN),
    }
    assert sum(event.sequences for event in rig.of_type(Learned)) == 3
    assert source.committed[ORDERS].next_offset == 8


def test_a_poll_with_bad_records_only_moves_the_positions_on(tmp_path: Path) -> None:
    source = MemorySource([ORDERS])
    source.append(None)
    Rig(tmp_path, source).run(2)
    assert source.committed[ORDERS].next_offset == 1


def test_a_jump_of_offsets_is_told_and_a_return_is_refused(tmp_path: Path) -> None:
    source = filled(10)
    source.logs[ORDERS] = [record for record in source.logs[ORDERS] if record.offset not in (4, 5)]
    rig = Rig(tmp_path, source)
    rig.loop.save()
    rig.loop.turn()
    rig.loop.turn()
    assert rig.of_type(Gap) == [Gap(ORDERS, 2, lost=False)]
    source._next[ORDERS] = 3
    with pytest.raises(StreamError, match=r"orders\[0\]: got offset 3 again, wanted 10"):
        rig.loop.turn()
    rig.crash()


def test_an_error_of_the_stream_saves_what_was_learned_first(tmp_path: Path) -> None:
    source = filled(10)
    rig = Rig(tmp_path, source)
    turns = iter(range(100))

    def stopping() -> bool:
        if next(turns) == 3:
            source._next[ORDERS] = 0
        return False

    with pytest.raises(StreamError):
        rig.loop.run(stopping)
    rig.crash()
    assert Rig(tmp_path, filled(10)).learning.sequences_seen == 10


def test_a_checkpoint_holds_the_canary_of_the_last_record(tmp_path: Path) -> None:
    source = filled(5)
    Rig(tmp_path, source).run(3)
    position = source.committed[ORDERS]
    assert (position.next_offset, position.last_offset, position.last_timestamp_ms) == (5, 4, 4)
    assert position.last_value_crc32 != 0


def test_checkpoints_come_every_so_many_records_also_of_bad_ones(tmp_path: Path) -> None:
    source = MemorySource([ORDERS], max_poll_records=10)
    for _ in range(50):
        source.append(None)
    rig = Rig(tmp_path, source, every_records=20)
    rig.loop.save()
    for _ in range(10):
        rig.loop.turn()
        until(lambda: not rig.writer.busy)
        rig.loop.turn()
    rig.crash()
    assert [e.seq for e in rig.of_type(CheckpointDone)][:3] == [0, 1, 2]


def test_a_disk_that_fails_does_not_stop_learning_but_fails_the_last_checkpoint(tmp_path: Path) -> None:
    source = filled(60)
    rig = Rig(tmp_path, source, every_records=20)
    rig.loop.save()
    rig.store._on_step = _no_space
    for _ in range(6):
        rig.loop.turn()
    until(lambda: not rig.writer.busy)
    assert sum(event.sequences for event in rig.of_type(Learned)) == 60
    with pytest.raises(CheckpointError, match="No space left"):
        rig.loop.save()
    assert {event.outcome for event in rig.of_type(CheckpointDone)} == {"written", "failed"}
    rig.crash()


def test_what_a_full_disk_refused_is_saved_once_there_is_room_though_the_stream_is_idle(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, filled(20), every_seconds=60.0)
    rig.loop.save()
    usual, rig.store._on_step = rig.store._on_step, _no_space
    for _ in range(6):
        rig.loop.turn()
        rig.now += 61.0
    until(lambda: not rig.writer.busy)
    rig.loop.turn()
    assert rig.of_type(CheckpointDone)[-1].outcome == "failed"
    until(lambda: not rig.writer.busy)
    rig.store._on_step = usual
    for _ in range(3):
        rig.now += 61.0
        rig.loop.turn()
        until(lambda: not rig.writer.busy)
    rig.loop.turn()
    last = rig.of_type(CheckpointDone)[-1]
    assert (last.outcome, last.sequences_seen) == ("written", 20)
    rig.crash()


def _no_space(step: str) -> None:
    if step == "write":
        raise OSError(28, "No space left on device")


def test_a_stop_during_a_checkpoint_waits_for_it_and_saves_the_rest(tmp_path: Path) -> None:
    rig = Rig(tmp_path, filled(60), every_records=20)
    rig.loop.save()
    disk_answers, begun = threading.Event(), threading.Event()

    def slow(step: str) -> None:
        if step == "fsync":
            begun.set()
            assert disk_answers.wait(20)

    rig.store._on_step = slow
    while not begun.is_set():
        rig.loop.turn()
    assert rig.writer.busy
    threading.Timer(0.05, disk_answers.set).start()
    rig.loop.save()
    rig.crash()
    again = Rig(tmp_path, filled(60))
    assert again.learning.sequences_seen == sum(event.sequences for event in rig.of_type(Learned))
    again.crash()


def test_states_and_connection_are_told(tmp_path: Path) -> None:
    source = filled(1)
    rig = Rig(tmp_path, source)
    rig.run(2)
    assert [event.state for event in rig.of_type(StateChanged)] == ["running", "stopping"]
    assert all(event.connected for event in rig.of_type(Polled))


def test_one_record_cannot_ruin_the_model(tmp_path: Path) -> None:
    source = MemorySource([ORDERS])
    heavy = {"columns": {"w": ["a"], "pos": ["b"]}, "labels": ["O"], "weight": 1e8}
    long = {"columns": {"w": ["a"], "pos": ["b"]}, "labels": ["x" * 300]}
    for record in (heavy, long):
        source.append(json.dumps(record).encode())
    rig = Rig(tmp_path, source)
    rig.run(2)
    assert [event.reason for event in rig.of_type(Rejected)] == [Reason.TOO_LARGE, Reason.TOO_LARGE]
    assert rig.of_type(Learned) == []


class Sink:
    """Takes bad records and says when they are durable."""

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.is_durable = True

    def send(self, record: Record, why: Rejected) -> None:
        assert record.offset == why.offset
        self.offsets.append(record.offset)

    def settle(self, timeout_seconds: float) -> bool:  # noqa: ARG002
        return self.is_durable


def with_bad_ones(good: int, bad: int, poll: int = 5) -> MemorySource:
    source = MemorySource([ORDERS], max_poll_records=poll)
    for example in make_examples(good):
        source.append(to_json(example))
    for _ in range(bad):
        source.append(b"{")
    return source


def test_no_checkpoint_passes_a_bad_record_before_its_letter_is_durable(tmp_path: Path) -> None:
    sink = Sink()
    rig = Rig(tmp_path, with_bad_ones(10, 5), every_records=5, sink=sink)
    rig.loop.save()
    sink.is_durable = False
    for _ in range(6):
        rig.loop.turn()
    assert sink.offsets == [10, 11, 12, 13, 14]
    assert rig.source.committed[ORDERS].next_offset == 0
    with pytest.raises(BrokerUnavailableError, match="not acknowledged"):
        rig.loop.save()
    rig.crash()
    again = Rig(tmp_path, with_bad_ones(10, 5), sink=sink)
    sink.is_durable = True
    again.run(6)
    assert again.source.committed[ORDERS].next_offset == 15
    # At least once: the letters that nobody acknowledged came again.
    assert sink.offsets == [10, 11, 12, 13, 14] * 2


def test_a_stream_gone_bad_stops_before_it_is_passed_over(tmp_path: Path) -> None:
    sink = Sink()
    rig = Rig(tmp_path, with_bad_ones(10, 5), sink=sink, tolerance=Tolerance(0.2, 10))
    with pytest.raises(StreamError, match=r"5 of 10 consecutive records are bad"):
        rig.loop.run(lambda: False)
    rig.crash()
    assert sink.offsets == []
    assert rig.source.committed[ORDERS].next_offset == 10


def test_a_stream_gone_bad_stops_the_next_life_too(tmp_path: Path) -> None:
    source = with_bad_ones(10, 3, poll=2)
    rig = Rig(tmp_path, source, tolerance=Tolerance(0.2, 10))
    with pytest.raises(StreamError, match=r"3 of 10 consecutive records are bad"):
        rig.loop.run(lambda: False)
    rig.crash()
    # Two were passed over; what stopped it is found again, with those two before it.
    assert source.committed[ORDERS].next_offset == 12
    again = Rig(tmp_path, with_bad_ones(10, 3, poll=2), tolerance=Tolerance(0.2, 10))
    with pytest.raises(StreamError, match=r"3 of 10 consecutive records are bad"):
        again.loop.run(lambda: False)
    again.crash()
