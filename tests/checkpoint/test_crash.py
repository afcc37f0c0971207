"""A process killed at every step of a save leaves the old checkpoint or the new one, complete."""

from functools import partial

import pytest

from streamlearn.checkpoint.local import STEPS, CheckpointStore
from tests.checkpoint.build import assert_same_checkpoint, make_checkpoint
from tests.checkpoint.kill import save_and_be_killed


def save(directory, checkpoint, on_step=lambda _: None):
    store = CheckpointStore(directory, on_step=on_step)
    with store.lock():
        store.load_newest()
        store.save(checkpoint)


def steps_of_a_save(directory, checkpoint):
    steps = []
    directory.mkdir()
    save(directory, checkpoint, steps.append)
    return steps


def load(directory):
    store = CheckpointStore(directory)
    with store.lock():
        return store.load_newest()


def test_every_step_is_announced(tmp_path):
    steps = steps_of_a_save(tmp_path / "a", make_checkpoint(1))
    assert tuple(dict.fromkeys(steps)) == STEPS
    assert steps.count("write") > 3


@pytest.mark.parametrize("checkpoints", [0, 1, 5])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_state(tmp_path, checkpoints):
    old = make_checkpoint(checkpoints - 1) if checkpoints else None
    new = make_checkpoint(checkpoints)
    steps = steps_of_a_save(tmp_path / "steps", new)
    for number, step in enumerate(steps):
        directory = tmp_path / str(number)
        directory.mkdir()
        for seq in range(checkpoints):
            save(directory, make_checkpoint(seq))
        save_and_be_killed(partial(save, directory, new), number)
        loaded = load(directory)
        wanted = new if STEPS.index(step) > STEPS.index("replace") else old
        if wanted is None:
            assert loaded is None
        else:
            assert loaded.corrupt == 0
            assert_same_checkpoint(loaded.checkpoint, wanted)
        assert not list(directory.glob("*.tmp"))
        save(directory, make_checkpoint(checkpoints + 1))
        assert load(directory).checkpoint.seq == checkpoints + 1
