import pytest

from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.local_files import open_checkpoint
from streamlearn.checkpoint.pinned import keep_newest
from streamlearn.errors import CheckpointError
from tests.checkpoint.build import make_checkpoint


def kept(directory):
    return sorted(path.name for path in directory.glob("kept-*"))


def test_what_is_kept_outlives_its_checkpoint(tmp_path):
    store = CheckpointStore(tmp_path)
    with store.lock():
        store.save(make_checkpoint(seq=0))
        path = keep_newest(tmp_path, 1234)
        for seq in range(1, 5):
            store.save(make_checkpoint(seq=seq))
        assert store.load_newest().checkpoint.seq == 4
    assert open_checkpoint(path).checkpoint.seq == 0


def test_the_first_that_is_kept_of_a_moment_stays_and_only_five_do(tmp_path):
    store = CheckpointStore(tmp_path)
    with store.lock():
        store.save(make_checkpoint(seq=0))
        first = keep_newest(tmp_path, 10)
        store.save(make_checkpoint(seq=1))
        assert keep_newest(tmp_path, 10) == first
    assert open_checkpoint(first).checkpoint.seq == 0
    for sequence in range(11, 16):
        keep_newest(tmp_path, sequence)
    assert len(kept(tmp_path)) == 5
    assert not first.exists()


def test_without_a_checkpoint_there_is_nothing_to_keep(tmp_path):
    assert keep_newest(tmp_path, 1) is None


def test_a_directory_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "checkpoint-00000000000000000001.slcp").mkdir()
    with pytest.raises(CheckpointError, match="state directory"):
        keep_newest(tmp_path, 1)
