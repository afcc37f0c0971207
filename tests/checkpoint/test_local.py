import errno
import os
import resource
import subprocess
from pathlib import Path

import numpy as np
import pytest

from streamlearn.checkpoint.codec import CorruptError, encode
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.local_files import open_checkpoint
from streamlearn.checkpoint.retention import Retention
from streamlearn.errors import CheckpointError, ConfigError
from tests.checkpoint.build import make_checkpoint

DAMAGES = {
    "zero-length": lambda data: data[:0],
    "torn": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "zeros": lambda data: bytes(len(data)),
    "doubled": lambda data: data + data,
}


@pytest.fixture
def store(tmp_path):
    store = CheckpointStore(tmp_path)
    with store.lock():
        yield store


def save_all(store, seqs):
    return [Path(store.save(make_checkpoint(seq)).where) for seq in seqs]


def names(directory):
    return sorted(
        path.name.removeprefix("checkpoint-").lstrip("0") for path in directory.glob("checkpoint-*")
    )


def listing(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_pruning_keeps_the_newest_checkpoints(store, tmp_path):
    save_all(store, range(8, 13))
    assert names(tmp_path) == ["10.slcp", "11.slcp", "12.slcp"]


def test_fewer_than_three_checkpoints_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="got 2, wanted 3"):
        CheckpointStore(tmp_path, Retention(newest=2))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_newest_is_set_aside_and_counted_and_the_one_before_is_used(store, tmp_path, damage):
    newest = save_all(store, [1, 2, 3])[-1]
    newest.write_bytes(DAMAGES[damage](newest.read_bytes()))
    loaded = store.load_newest()
    assert (loaded.checkpoint.seq, loaded.corrupt) == (2, 1)
    assert names(tmp_path) == ["1.slcp", "2.slcp", "3.slcp.corrupt"]
    store.save(make_checkpoint(3))
    assert store.load_newest().checkpoint.seq == 3


def test_with_only_corrupt_files_left_it_does_not_start_from_zero(store, tmp_path):
    (tmp_path / "checkpoint-00000000000000000001.slcp.corrupt").write_bytes(b"")
    with pytest.raises(CheckpointError, match="1 checkpoints, but none verifies"):
        store.load_newest()


def test_corrupt_files_are_bounded(store, tmp_path):
    for seq in range(1, 10):
        (tmp_path / f"checkpoint-{seq:020d}.slcp.corrupt").write_bytes(b"")
    store.save(make_checkpoint(10))
    assert names(tmp_path) == ["10.slcp", "7.slcp.corrupt", "8.slcp.corrupt", "9.slcp.corrupt"]


def test_an_intact_file_that_is_not_a_checkpoint_of_ours_refuses(store, tmp_path):
    save_all(store, [1])
    (tmp_path / f"checkpoint-{2:020d}.slcp").write_bytes(b"".join(encode({"something": "else"})))
    with pytest.raises(CheckpointError, match="field model_id"):
        store.load_newest()


def test_temporary_files_of_a_crash_are_removed_and_foreign_files_are_not(store, tmp_path):
    (tmp_path / f"checkpoint-{7:020d}.slcp.tmp").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "checkpoint-7.slcp").write_text("not our name")
    assert store.load_newest() is None
    assert sorted(listing(tmp_path)) == ["LOCK", "checkpoint-7.slcp", "notes.txt"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("bad_step", ["create", "write", "fsync", "replace"])
def test_a_failing_disk_leaves_the_older_ones_and_no_temporary_file(tmp_path, code, bad_step):
    faults = []

    def disk(step):
        if step in faults:
            raise OSError(code, os.strerror(code))

    store = CheckpointStore(tmp_path, on_step=disk)
    with store.lock():
        store.save(make_checkpoint(1))
        before = listing(tmp_path)
        faults.append(bad_step)
        with pytest.raises(CheckpointError, match=rf"{os.strerror(code)} \({errno.errorcode[code]}\)"):
            store.save(make_checkpoint(2))
        assert listing(tmp_path) == before
        faults.clear()
        store.save(make_checkpoint(2))
        assert store.load_newest().checkpoint.seq == 2


def test_a_directory_that_cannot_be_synced_fails_the_save_and_the_same_seq_may_be_tried_again(tmp_path):
    faults = ["fsync_directory"]

    def disk(step):
        if step in faults:
            raise OSError(errno.EIO, "Input/output error")

    store = CheckpointStore(tmp_path, on_step=disk)
    with store.lock():
        with pytest.raises(CheckpointError, match="EIO"):
            store.save(make_checkpoint(1))
        faults.clear()
        store.save(make_checkpoint(1))
        assert store.load_newest().checkpoint.seq == 1


def test_an_old_checkpoint_that_cannot_be_removed_does_not_fail_the_new_one(tmp_path):
    def disk(step):
        if step == "prune":
            raise OSError(errno.EIO, "Input/output error")

    store = CheckpointStore(tmp_path, on_step=disk)
    with store.lock():
        save_all(store, range(5))
        assert len(store.checkpoints()) == 5


def test_a_file_size_limit_of_the_system_is_reported_in_words(store, tmp_path):
    store.save(make_checkpoint(1))
    before = listing(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(CheckpointError, match=r"File too large \(EFBIG\)"):
            store.save(make_checkpoint(2, model={"w": np.zeros(1 << 18)}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert listing(tmp_path) == before


def test_too_little_room_is_noticed_before_anything_is_written(tmp_path):
    steps = []
    store = CheckpointStore(tmp_path, on_step=steps.append)
    petabytes = np.broadcast_to(np.int64(0), (10**15,))
    with store.lock(), pytest.raises(CheckpointError, match=r"bytes free, wanted 2 times .* \(ENOSPC\)"):
        store.save(make_checkpoint(1, model={"w": petabytes}))
    assert steps == ["check"]


@pytest.fixture
def small_disk(tmp_path):
    """Return the directory of a file system of 1 MiB, and a function that makes it read-only."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(directory)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("may not mount")
    yield directory, lambda: subprocess.run(["mount", "-o", "remount,ro", str(directory)], check=True)
    subprocess.run(["umount", "-l", str(directory)], check=True)


def test_a_disk_that_fills_during_the_write_keeps_the_older_ones(small_disk):
    directory, _ = small_disk
    filler = directory / "filler"

    def fill(step):
        if step == "create":
            filler.write_bytes(bytes(700_000))

    with CheckpointStore(directory).lock():
        pass
    store = CheckpointStore(directory, on_step=fill)
    with store.lock():
        store.save(make_checkpoint(1))
        filler.unlink()
        with pytest.raises(CheckpointError, match=r"No space left on device \(ENOSPC\)"):
            store.save(make_checkpoint(2, model={"w": np.zeros(50_000)}))
        assert names(directory) == ["1.slcp"]
        assert store.load_newest().checkpoint.seq == 1


def test_a_disk_that_becomes_read_only_is_reported_in_words(small_disk):
    directory, make_read_only = small_disk
    store = CheckpointStore(directory)
    with store.lock():
        store.save(make_checkpoint(1))
    make_read_only()
    with pytest.raises(CheckpointError, match="Read-only file system"), store.lock():
        pass
    assert open_checkpoint(directory).checkpoint.seq == 1


def test_a_checkpoint_is_opened_by_file_or_by_directory_without_touching_anything(store, tmp_path):
    paths = save_all(store, [1, 2, 3])
    paths[2].write_bytes(b"torn")
    (tmp_path / f"checkpoint-{9:020d}.slcp.tmp").write_bytes(b"being written")
    before = listing(tmp_path)
    assert open_checkpoint(paths[0]).checkpoint.seq == 1
    by_directory = open_checkpoint(tmp_path)
    assert (by_directory.checkpoint.seq, by_directory.corrupt) == (2, 1)
    with pytest.raises(CorruptError):
        open_checkpoint(paths[2])
    assert listing(tmp_path) == before


def test_a_checkpoint_may_be_opened_under_any_name(store, tmp_path):
    (path,) = save_all(store, [1])
    assert open_checkpoint(path.rename(tmp_path / "model.bin")).checkpoint.seq == 1


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere", r"No such file or directory \(ENOENT\)"), (".", "no checkpoint in this")],
)
def test_opening_nothing_is_an_error_that_names_it(tmp_path, path, message):
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(tmp_path / path)


def test_devices_are_not_checkpoints():
    with pytest.raises(CorruptError, match="not a checkpoint"):
        open_checkpoint(Path("/dev/zero"))


def test_a_rollback_makes_an_older_checkpoint_the_newest_and_the_next_follows_it(store, tmp_path):
    for seq in range(3):
        store.save(make_checkpoint(seq))
    assert store.roll_back(1).checkpoint.seq == 1
    assert store.load_newest().checkpoint.seq == 1
    assert [path.name for path in tmp_path.glob("*.undone")] == [f"checkpoint-{2:020d}.slcp.undone"]
    store.save(make_checkpoint(2, sequences_seen=77))
    assert store.load_newest().checkpoint.sequences_seen == 77


def test_undone_checkpoints_are_bounded(store, tmp_path):
    for number in range(9):
        (tmp_path / f"checkpoint-{number:020d}.slcp.undone").touch()
    store.save(make_checkpoint(1))
    assert len(list(tmp_path.glob("*.undone"))) == 3
