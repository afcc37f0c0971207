import contextlib
import os
import subprocess
import sys

import pytest

from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.errors import CheckpointError, StateLockedError
from tests.checkpoint.build import make_checkpoint

HOLD = """
import sys
from pathlib import Path
from streamlearn.checkpoint.lock import lock_directory
with lock_directory(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_another_process_is_refused_by_name_until_the_holder_is_killed(tmp_path):
    store = CheckpointStore(tmp_path)
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(StateLockedError, match=f"held by pid {holder.pid} on "), store.lock():
            pass
        holder.kill()
    with store.lock():
        assert (tmp_path / "LOCK").read_text().startswith(f"pid {os.getpid()} on ")


def test_the_lock_file_stays_and_is_not_taken_for_a_checkpoint(tmp_path):
    store = CheckpointStore(tmp_path)
    with store.lock():
        assert store.load_newest() is None
    assert [path.name for path in tmp_path.iterdir()] == ["LOCK"]


def test_a_second_store_in_the_same_process_is_refused(tmp_path):
    with (
        CheckpointStore(tmp_path).lock(),
        pytest.raises(StateLockedError),
        CheckpointStore(tmp_path).lock(),
    ):
        pass


def test_without_the_lock_nothing_is_loaded_or_saved(tmp_path):
    store = CheckpointStore(tmp_path)
    with pytest.raises(CheckpointError, match="not locked"):
        store.load_newest()
    with pytest.raises(CheckpointError, match="not locked"):
        store.save(make_checkpoint())


def test_a_write_that_outlives_the_lock_is_not_published(tmp_path):
    held = []
    store = CheckpointStore(tmp_path, on_step=lambda step: held.pop().close() if step == "replace" else None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(store.lock())
        held.append(stack.pop_all())
        with pytest.raises(CheckpointError, match="not locked"):
            store.save(make_checkpoint())
    assert [path.name for path in tmp_path.iterdir()] == ["LOCK"]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_directory_that_is_none_is_refused(tmp_path, kind):
    directory = tmp_path / "state"
    if kind == "file":
        directory.write_text("")
    with (
        pytest.raises(CheckpointError, match="it must exist and be writable"),
        CheckpointStore(directory).lock(),
    ):
        pass
