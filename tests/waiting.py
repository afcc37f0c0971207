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


def until_succeeds(act: Callable[[], object], error: type[Exception], seconds: float, what: str) -> None:
    """Try again and again until nothing of this kind is raised."""

    def succeeds() -> bool:
        try:
            act()
        except error:
            return False
        return True

    until(succeeds, seconds, what)
