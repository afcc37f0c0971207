"""Checking that all weights are finite before a checkpoint is written."""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from streamlearn.checkpoint.segment import Array, blocks
from streamlearn.errors import NonFiniteWeightsError

# Block by block, the mask takes 1 MiB instead of a quarter of the model.
_BLOCK_BYTES = 8 << 20


def assert_finite(state: Any, path: str = "") -> None:
    """Check that no float or complex array in the tree `state` contains NaN or infinity.

    Raises
    ------
    NonFiniteWeightsError : names the first such array, element and value.

    Examples
    --------
    >>> assert_finite({"weights": np.array([1.0, np.inf])}, "model")
    Traceback (most recent call last):
    streamlearn.errors.NonFiniteWeightsError: model/weights[1] is inf; the weights are not checkpointed
    """
    for name, array in _float_arrays(state, path):
        start = 0
        for block in blocks(array, _BLOCK_BYTES):
            finite = np.isfinite(block.reshape(-1))
            if not finite.all():
                _refuse(name, array, start + int(finite.argmin()))
            start += block.size


def _refuse(name: str, array: Array, place: int) -> NoReturn:
    index = np.unravel_index(place, array.shape)
    where = ",".join(str(i) for i in index)
    raise NonFiniteWeightsError(f"{name}[{where}] is {array[index]}; the weights are not checkpointed")


def _float_arrays(node: Any, path: str) -> Iterator[tuple[str, Array]]:
    if isinstance(node, np.ndarray):
        if node.dtype.kind in "fc":
            yield path, node
    elif isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _float_arrays(value, f"{path}/{key}" if path else str(key))
