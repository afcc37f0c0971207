"""Waiting for something with a deadline: the only way tests wait."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(ask: Callable[[], T], seconds: float = 20.0, what: str = "it") -> T:
    """Ask again and again until the answer is true; give the answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(
                f"{what} did not happen within {seconds:.0f} s; the last answer was {answer!r}"
            )
        time.sleep(0.02)
