"""SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once.

`stop_on_signals` is for the daemon, which looks up between batches; `Interrupt` for commands that wait
for input.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

# Wrappers such as timeout(1) signal the process and then its group: that is one request, not two.
_ECHO_SECONDS = 0.5
# How long a wait may last before it looks for a signal.
_SLICE_SECONDS = 0.1


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


class Interrupt:
    """Turns the first signal into a request to stop; a second one ends the program as usual.

    Attributes
    ----------
    signal : number of the signal that came, or None.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._reading = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    @property
    def stopped(self) -> bool:
        """Whether a signal came."""
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal ended, or 0."""
        return 128 + self.signal if self.signal else 0

    def until(self, items: Iterable[T]) -> Iterator[T]:
        """Give items until a signal comes, even while the next item is waited for."""
        iterator = iter(items)
        try:
            while not self.stopped:
                self._reading = True
                item = next(iterator)
                self._reading = False
                yield item
        except (StopIteration, KeyboardInterrupt):
            return
        finally:
            self._reading = False

    def sleep(self, seconds: float) -> None:
        """Wait, but not on after a signal."""
        end = time.monotonic() + seconds
        while not self.stopped and (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, _SLICE_SECONDS))

    def _stop(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self._restore()
        # Sending must not be torn apart, but a read may never end by itself.
        if self._reading:
            raise KeyboardInterrupt

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()
