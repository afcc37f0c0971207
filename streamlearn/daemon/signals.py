"""SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Wrappers such as timeout(1) signal the process and then its group: that is one request, not two.
_ECHO_SECONDS = 0.5


@contextmanager
def stop_on_signals(leave: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Give a function that tells whether a stop was asked for.

    The second signal ends the process in the middle of whatever it does, with 128 + its number: that is
    safe at any instant, it costs the work since the last checkpoint.

    Parameters
    ----------
    leave : called just before, in the signal handler: for what would outlive the process.
    """
    asked: float | None = None

    def handle(number: int, _: FrameType | None) -> None:
        nonlocal asked
        now = time.monotonic()
        if asked is None:
            asked = now
        elif now - asked > _ECHO_SECONDS:
            try:
                leave()
            finally:
                os._exit(128 + number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: asked is not None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
