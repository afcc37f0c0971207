import errno
import threading

import numpy as np
import pytest

from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.errors import CheckpointError, NonFiniteWeightsError
from tests.checkpoint.build import assert_same_checkpoint, make_checkpoint


@pytest.fixture
def make_writer(tmp_path):
    """Return a function that makes a writer over a locked store with a fault hook, and the store."""
    writers = []
    locks = []

    def make(on_step=lambda _: None):
        store = CheckpointStore(tmp_path, on_step=on_step)
        locks.append(store.lock())
        locks[-1].__enter__()
        writers.append(BackgroundWriter(store))
        return writers[-1], store

    yield make
    for writer in writers:
        writer.close(10)
    for lock in locks:
        lock.__exit__(None, None, None)


def test_a_submitted_checkpoint_is_written_and_reported_once(make_writer):
    writer, store = make_writer()
    checkpoint = make_checkpoint(1)
    writer.submit(checkpoint)
    (outcome,) = writer.drain(10)
    assert (outcome.outcome, outcome.seq, outcome.message, outcome.fatal) == ("written", 1, "", None)
    assert outcome.positions == checkpoint.positions
    assert outcome.size_bytes > 8000
    assert outcome.disk_free_bytes > 0
    assert outcome.write_seconds > 0
    assert writer.poll() == []
    assert_same_checkpoint(store.load_newest().checkpoint, checkpoint)


def test_learning_is_not_blocked_by_a_slow_disk_and_a_second_checkpoint_is_refused(make_writer):
    disk_answers = threading.Event()
    writer, store = make_writer(lambda step: disk_answers.wait(10) if step == "fsync" else None)
    writer.submit(make_checkpoint(1))
    assert writer.busy
    assert writer.poll() == []
    assert writer.drain(0.0) == []
    with pytest.raises(CheckpointError, match="checkpoint 2: the writer is busy"):
        writer.submit(make_checkpoint(2))
    disk_answers.set()
    assert [outcome.seq for outcome in writer.drain(10)] == [1]
    assert not writer.busy
    assert store.load_newest().checkpoint.seq == 1


def test_a_failed_write_is_reported_and_the_next_one_succeeds(make_writer):
    faults = [OSError(errno.ENOSPC, "No space left on device")]

    def disk(step):
        if step == "fsync" and faults:
            raise faults.pop()

    writer, store = make_writer(disk)
    writer.submit(make_checkpoint(1))
    (failed,) = writer.drain(10)
    assert (failed.outcome, failed.seq, failed.size_bytes, failed.fatal) == ("failed", 1, 0, None)
    assert "No space left on device (ENOSPC)" in failed.message
    writer.submit(make_checkpoint(2))
    assert [outcome.outcome for outcome in writer.drain(10)] == ["written"]
    assert store.load_newest().checkpoint.seq == 2


def test_weights_that_are_not_finite_are_fatal_and_replace_nothing(make_writer):
    writer, store = make_writer()
    store.save(make_checkpoint(1))
    writer.submit(make_checkpoint(2, model={"weights": np.array([np.nan])}))
    (outcome,) = writer.drain(10)
    assert outcome.outcome == "failed"
    assert isinstance(outcome.fatal, NonFiniteWeightsError)
    assert store.load_newest().checkpoint.seq == 1


def test_an_error_that_is_no_checkpoint_error_is_fatal(make_writer):
    def bug(step):
        if step == "check":
            raise ZeroDivisionError("bug")

    writer, _ = make_writer(bug)
    writer.submit(make_checkpoint(1))
    (outcome,) = writer.drain(10)
    assert isinstance(outcome.fatal, ZeroDivisionError)


def test_closing_lets_the_write_in_progress_end_and_refuses_another(make_writer):
    writer, store = make_writer()
    writer.submit(make_checkpoint(1))
    writer.close(10)
    writer.close(10)
    assert [outcome.outcome for outcome in writer.poll()] == ["written"]
    assert store.load_newest().checkpoint.seq == 1
    with pytest.raises(CheckpointError, match="closed"):
        writer.submit(make_checkpoint(2))
