"""SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Wrappers such as timeout(1) signal the process and then its group: that is one request, not two.
_ECHO_SECONDS = 0.5


class Stop:
    """Tells, when called, whether a stop was asked for.

    Parameters
    ----------
    leave : called just before the process is ended, in the signal handler: for what would outlive it.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._asked: float | None = None
        self._at_once = False

    def __call__(self) -> bool:
        """Tell whether a stop was asked for."""
        return self._asked is not None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the first signal end the process, with 0, while the context is open.

        For work that cannot look up and has changed nothing, such as compiling.
        """
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def handle(self, number: int, _: FrameType | None) -> None:
        """Take a signal."""
        now = time.monotonic()
        if self._at_once:
            self._end(0)
        if self._asked is None:
            self._asked = now
        elif now - self._asked > _ECHO_SECONDS:
            self._end(128 + number)

    def _end(self, code: int) -> None:
        try:
            self._leave()
        finally:
            os._exit(code)


@contextmanager
def stop_on_signals(leave: Callable[[], None] = lambda: None) -> Iterator[Stop]:
    """Give what tells whether a stop was asked for.

    The second signal ends the process in the middle of whatever it does, with 128 + its number: that is
    safe at any instant, it costs the work since the last checkpoint.

    Parameters
    ----------
    leave : as in `Stop`.
    """
    stop = Stop(leave)
    before = {number: signal.signal(number, stop.handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
