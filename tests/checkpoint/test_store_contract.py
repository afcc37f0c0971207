"""What every store of checkpoints promises: a directory, objects in memory, and objects in S3."""

import contextlib
import uuid

import numpy as np
import pytest

from streamlearn.checkpoint.codec import FormatVersionError
from streamlearn.checkpoint.location import open_checkpoint, open_store
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.errors import CheckpointError, NonFiniteWeightsError
from tests.checkpoint.build import assert_same_checkpoint, frame, make_checkpoint
from tests.checkpoint.places import Bucket, Directory

DAMAGES = {
    "zero-length": lambda data: data[:0],
    "torn": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
}


@pytest.fixture(params=["directory", "memory", "s3"])
def place(request, tmp_path):
    if request.param == "directory":
        return Directory(tmp_path)
    if request.param == "memory":
        return Bucket(f"memory://{uuid.uuid4()}/state")
    return Bucket(request.getfixturevalue("s3"))


@pytest.fixture
def store(place):
    store = place.store()
    with store.lock():
        yield store


def save_all(store, seqs):
    return [store.save(make_checkpoint(seq)).where for seq in seqs]


def test_an_empty_place_holds_nothing(store):
    assert store.load_newest() is None
    assert store.newest() is None
    assert store.checkpoints() == []
    assert store.keep_newest(1) is None


def test_the_newest_is_loaded_with_writable_aligned_arrays(store):
    where, size_bytes = store.save(make_checkpoint(42))
    loaded = store.load_newest()
    assert (loaded.where, loaded.size_bytes, loaded.corrupt) == (where, size_bytes, 0)
    assert_same_checkpoint(loaded.checkpoint, make_checkpoint(42))
    weights = loaded.checkpoint.model["learner"]["weights"]
    weights += 1
    assert weights.ctypes.data % 64 == 0


def test_it_is_found_by_its_location_and_a_checkpoint_by_its_own(place, store):
    first, second = save_all(store, [1, 2])
    assert open_store(place.location).newest().checkpoint.seq == 2
    assert open_checkpoint(place.location).where == second
    assert open_checkpoint(first).checkpoint.seq == 1
    assert str(2) in second


def test_a_checkpoint_of_many_parts_comes_back_whole(store):
    weights = np.random.default_rng(1).random(2_200_000)
    store.save(make_checkpoint(1, model={"w": weights}))
    assert np.array_equal(store.load_newest().checkpoint.model["w"], weights)


def test_retention_keeps_the_newest_checkpoints(place, store):
    save_all(store, range(8, 13))
    assert [checkpoint.seq for checkpoint in store.checkpoints()] == [10, 11, 12]
    assert sum("checkpoint-" in name for name in place.content()) == 3


def test_history_stays_as_long_as_it_is_wanted(place):
    for life in range(2):
        # The second life knows the times from what the first one wrote.
        store = place.store(Retention(newest=3, hourly=4))
        with store.lock():
            store.load_newest()
            for seq in range(5 * life, 5 * life + 5):
                store.save(make_checkpoint(seq, created_unix=1.7e9 + 1800 * seq))
    # 1.7e9 is 800 s after the hour: each hour has two.
    assert [checkpoint.seq for checkpoint in store.checkpoints()] == [3, 5, 7, 8, 9]


def test_what_is_kept_outlives_its_checkpoint(store):
    save_all(store, [0])
    where = store.keep_newest(1234)
    save_all(store, range(1, 6))
    assert store.load_newest().checkpoint.seq == 5
    assert open_checkpoint(where).checkpoint.seq == 0


@pytest.mark.parametrize("damage", [*DAMAGES, "missing"])
def test_a_damaged_newest_is_set_aside_and_counted_and_the_one_before_is_used(place, store, damage):
    newest = save_all(store, [1, 2, 3])[-1]
    if damage == "missing":
        place.remove(newest)
    else:
        place.damage(newest, DAMAGES[damage])
    loaded = store.load_newest()
    # A file that is not there was never there; an object that is not there is still named by CURRENT.
    corrupt = 0 if damage == "missing" and isinstance(place, Directory) else 1
    assert (loaded.checkpoint.seq, loaded.corrupt) == (2, corrupt)
    assert [checkpoint.seq for checkpoint in store.checkpoints()] == [1, 2]
    store.save(make_checkpoint(3))
    loaded = store.load_newest()
    assert (loaded.checkpoint.seq, loaded.corrupt) == (3, 0)


def test_looking_at_a_damaged_newest_changes_nothing(place, store):
    newest = save_all(store, [1, 2])[-1]
    place.damage(newest, DAMAGES["torn"])
    before = place.content()
    assert (store.newest().checkpoint.seq, store.newest().corrupt) == (1, 1)
    first, second = store.checkpoints()
    place.damage(newest, DAMAGES["zero-length"])
    _, empty = store.checkpoints()
    place.damage(newest, lambda _: before[newest.rpartition("/")[2]])
    assert place.content() == before
    assert first.checkpoint.sequences_seen == 10
    assert (first.error, second.checkpoint, empty.checkpoint) == ("", None, None)
    assert "truncated" in second.error


def test_several_damaged_ones_are_skipped(place, store):
    for where in save_all(store, [1, 2, 3])[1:]:
        place.damage(where, DAMAGES["zero-length"])
    loaded = store.load_newest()
    assert (loaded.checkpoint.seq, loaded.corrupt) == (1, 2)


def test_when_none_verifies_it_refuses_to_start_however_often_it_is_asked(place, store):
    for where in save_all(store, [1, 2, 3]):
        place.damage(where, lambda data: data[:-1])
    before = place.content()
    for _ in range(2):
        with pytest.raises(
            CheckpointError, match=r"3 checkpoints, but none verifies; restore one.*truncated"
        ):
            store.load_newest()
    assert place.content() == before


def test_another_format_version_refuses_and_is_not_taken_for_damage(place, store):
    newest = save_all(store, [1, 2])[-1]
    place.damage(newest, lambda _: frame(b"", version=9))
    with pytest.raises(FormatVersionError, match=r"checkpoint-0+2.*\.slcp: format version 9, this release"):
        store.load_newest()
    assert [checkpoint.seq for checkpoint in store.checkpoints()] == [1, 2]


def test_a_checkpoint_under_the_name_of_another_refuses(place, store):
    first, second = save_all(store, [1, 2])
    content = place.content()
    place.damage(second, lambda _: content[first.rpartition("/")[2]])
    with pytest.raises(CheckpointError, match="contains checkpoint 1; rename it back"):
        store.load_newest()


@pytest.mark.parametrize("seq", [3, 5])
def test_a_seq_that_is_not_new_is_refused_also_by_a_store_that_loaded_nothing(place, seq):
    for _ in range(2):
        store = place.store()
        with store.lock():
            if not store.checkpoints():
                store.save(make_checkpoint(5))
            with pytest.raises(CheckpointError, match="seq must be above 5"):
                store.save(make_checkpoint(seq))


def test_weights_that_are_not_finite_are_never_written(place, store):
    before = place.content()
    with pytest.raises(NonFiniteWeightsError, match=r"model/w\[1\] is nan"):
        store.save(make_checkpoint(1, model={"w": np.array([0.0, np.nan])}))
    assert place.content() == before


def test_a_rollback_makes_an_older_checkpoint_the_newest_and_the_next_follows_it(store):
    save_all(store, range(3))
    assert store.roll_back(1).seq == 1
    assert store.load_newest().checkpoint.seq == 1
    store.save(make_checkpoint(2, sequences_seen=77))
    assert store.load_newest().checkpoint.sequences_seen == 77
    assert [checkpoint.seq for checkpoint in store.checkpoints()] == [0, 1, 2]


@pytest.mark.parametrize("damage", [True, False])
def test_a_rollback_to_what_does_not_verify_or_is_not_there_changes_nothing(place, store, damage):
    wheres = save_all(store, range(3))
    if damage:
        place.damage(wheres[1], lambda data: data[:-9])
    before = place.content()
    with pytest.raises(CheckpointError):
        store.roll_back(1 if damage else 7)
    assert place.content() == before
    assert store.load_newest().checkpoint.seq == 2


def test_without_holding_it_nothing_is_loaded_saved_or_rolled_back(place):
    store = place.store()
    for attempt in (store.load_newest, lambda: store.save(make_checkpoint()), lambda: store.roll_back(0)):
        with pytest.raises(CheckpointError, match=r"not (locked|held)"):
            attempt()


def test_a_write_that_outlives_the_lock_is_not_published(place):
    held = []
    last = "replace" if isinstance(place, Directory) else "point"
    store = place.store(on_step=lambda step: held.pop().close() if step == last else None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(store.lock())
        held.append(stack.pop_all())
        with pytest.raises(CheckpointError, match=r"not (locked|held)"):
            store.save(make_checkpoint())
    assert place.store().newest() is None


def test_a_probe_changes_nothing_and_takes_nothing(place):
    store = place.store()
    assert "writable" in store.probe()
    with store.lock():
        save_all(store, [1])
    before = place.content()
    assert "writable" in place.store().probe()
    assert place.content() == before


def test_a_background_writer_saves_in_it(store):
    writer = BackgroundWriter(store)
    writer.submit(make_checkpoint(1))
    (outcome,) = writer.drain(30)
    writer.close(10)
    assert (outcome.outcome, outcome.message, outcome.fatal) == ("written", "", None)
    assert store.load_newest().checkpoint.seq == 1
