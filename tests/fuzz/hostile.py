"""Inputs as an enemy or a bad disk would make them, and a bound on what reading them may cost."""

import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

MIB = 1 << 20


@contextmanager
def bounded_memory(limit_bytes: int) -> Iterator[None]:
    """Fail if more than `limit_bytes` are allocated at any time."""
    tracemalloc.start()
    try:
        yield
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes <= limit_bytes


@contextmanager
def one_line_of(*kinds: type[Exception]) -> Iterator[None]:
    """Let errors of these kinds pass if their message is one short line."""
    message = ""
    try:
        yield
    except kinds as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < 2000


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes], pieces: Sequence[bytes] = ()) -> bytes:
    """Return one of `seeds` with a few edits: bytes changed, cut out, repeated, or `pieces` put in."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        match draw(st.sampled_from(["flip", "cut", "end", "repeat", "piece", "bytes"])):
            case "flip" if at < len(data):
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at:end]
            case "end":
                del data[at:]
            case "repeat":
                data[at:at] = data[at:end]
            case "piece" if pieces:
                data[at:at] = draw(st.sampled_from(pieces))
            case _:
                data[at:at] = draw(st.binary(min_size=1, max_size=8))
    return bytes(data)


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, dict | list):
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            yield node, key
            yield from _places(value)


def misshapen(tree: Any, number: int, others: Sequence[Any]) -> Any:
    """Return a copy of `tree` in which one value, of which `number` tells, is cut out or one of `others`."""
    tree = deepcopy(tree)
    places = list(_places(tree))
    choice, number = divmod(number, len(places))
    parent, key = places[number]
    if choice % (1 + len(others)):
        parent[key] = others[choice % (1 + len(others)) - 1]
    else:
        del parent[key]
    return tree
