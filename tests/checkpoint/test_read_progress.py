import pytest

from streamlearn.checkpoint.read_progress import REACHED_NAME, ReadProgress
from streamlearn.data import TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 1)


def test_the_next_process_finds_how_far_each_partition_was_read(tmp_path):
    first = ReadProgress(tmp_path)
    assert first.before == {}
    first.note({A: 1_000_000, B: 5})
    first.note({A: 7})
    assert ReadProgress(tmp_path).before == {A: 7, B: 5}


def test_what_is_read_again_does_not_make_it_forget_the_rest(tmp_path):
    ReadProgress(tmp_path).note({A: 7, B: 5})
    again = ReadProgress(tmp_path)
    again.note({A: 3})
    assert again.before == {A: 7, B: 5}
    assert ReadProgress(tmp_path).before == {A: 3, B: 5}


@pytest.mark.parametrize("damage", [b"", b"[[1", b"[3]", b"{}", b'[["a", 0, null]]', b"\xff"])
def test_of_a_damaged_file_nothing_is_known(tmp_path, damage):
    (tmp_path / REACHED_NAME).write_bytes(damage)
    assert ReadProgress(tmp_path).before == {}


def test_where_nothing_can_be_written_learning_goes_on(tmp_path):
    (tmp_path / REACHED_NAME).mkdir()
    reached = ReadProgress(tmp_path)
    reached.note({A: 7})
    assert list((tmp_path / REACHED_NAME).iterdir()) == []
