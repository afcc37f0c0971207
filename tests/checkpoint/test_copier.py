import numpy as np
import pytest

from streamlearn.checkpoint.copier import Copier
from tests.states import differences


def tree() -> dict[str, object]:
    whole = np.arange(120.0).reshape(10, 3, 4)
    return {"n": 3, "weights": {"node": whole[:6, :, :3], "edge": whole[2:5]}, "own": np.arange(4)}


def test_a_copy_is_equal_and_does_not_change_with_the_original() -> None:
    original, wanted = tree(), tree()
    copied = Copier().copy(original)
    for array in (original["weights"]["node"], original["weights"]["edge"], original["own"]):  # type: ignore[index]
        array[:] = -1
    assert differences(copied, wanted) == []


def test_the_next_copy_takes_the_same_memory_also_where_more_is_in_use() -> None:
    whole = np.zeros((10, 4))
    copier = Copier()
    first = copier.copy({"w": whole[:3, :2]})["w"]
    whole[:] = 7
    second = copier.copy({"w": whole[:8, :3]})["w"]
    assert np.shares_memory(first, second)
    assert (second == 7).all()
    assert second.shape == (8, 3)


def test_other_memory_is_taken_where_the_array_was_made_anew() -> None:
    copier = Copier()
    copier.copy({"w": np.zeros((4, 2))[:2]})
    larger = copier.copy({"w": np.ones((4, 5))[:3]})["w"]
    assert larger.tolist() == np.ones((3, 5)).tolist()


def test_what_does_not_change_is_not_copied() -> None:
    keys = np.arange(5)[:3]
    keys.flags.writeable = False
    assert Copier().copy({"keys": keys})["keys"] is keys


@pytest.mark.parametrize(
    "array",
    [np.zeros((0, 3)), np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(8)[::-2], np.array(1.5)],
)
def test_arrays_of_any_layout_are_copied(array: np.ndarray) -> None:  # type: ignore[type-arg]
    copied = Copier().copy(array)
    assert differences(copied, array.copy()) == []
    assert not np.shares_memory(copied, array)
