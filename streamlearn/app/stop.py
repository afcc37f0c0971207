"""SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once.

SIGHUP asks a process without a terminal to read its configuration again. For one with a terminal it means
that the terminal was closed: a clean stop.

`stop_on_signals` is for the daemon, which checks between batches; `Interrupt` is for commands that wait for
input.
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
# A wait checks for a signal this often.
_SLICE_SECONDS = 0.1


class Stop:
    """Tells, when called, whether a stop was requested.

    Parameters
    ----------
    leave : called in the signal handler just before the process is ended, to clean up what would outlive it.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._requested: float | None = None
        self._at_once = False
        self._must_reload = False

    def __call__(self) -> bool:
        """Return whether a stop was requested."""
        return self._requested is not None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the first signal end the process, with exit code 0, while the context is open.

        For work that cannot check for signals and has changed nothing, such as compiling.
        """
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handle a signal."""
        now = time.monotonic()
        if self._at_once:
            self._end(0)
        if self._requested is None:
            self._requested = now
        elif now - self._requested > _ECHO_SECONDS:
            self._end(128 + number)

    def hang_up(self, _: int, __: FrameType | None) -> None:
        """Handle SIGHUP in a process without a terminal."""
        self._must_reload = True

    def reload_requested(self) -> bool:
        """Return whether the configuration is to be read again; True once for each request."""
        requested, self._must_reload = self._must_reload, False
        return requested

    def _end(self, code: int) -> None:
        try:
            self._leave()
        finally:
            os._exit(code)


@contextmanager
def stop_on_signals(leave: Callable[[], None] = lambda: None) -> Iterator[Stop]:
    """Return an object that tells whether a stop was requested.

    The second signal ends the process immediately, with exit code 128 + its number. That is safe at any
    instant: the records since the last checkpoint are learned again at the next start.

    Parameters
    ----------
    leave : as in `Stop`.
    """
    stop = Stop(leave)
    handlers: dict[int, Callable[[int, FrameType | None], None]] = {
        signal.SIGTERM: stop.handle,
        signal.SIGINT: stop.handle,
    }
    # Under nohup(1) it is ignored, and stays so.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        handlers[signal.SIGHUP] = stop.handle if _has_terminal() else stop.hang_up
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_terminal() -> bool:
    """Return whether there is a terminal that can be closed: standard input, or the controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return os.isatty(0)
    return True


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
        """The exit code that shells expect of a program ended by this signal; 0 without one."""
        return 128 + self.signal if self.signal else 0

    def until(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until a signal comes, even while waiting for the next item."""
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
        """Wait, but no longer than until a signal comes."""
        end = time.monotonic() + seconds
        while not self.stopped and (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, _SLICE_SECONDS))

    def _stop(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self._restore()
        # Sending must not be interrupted half-way, but a read may never end by itself.
        if self._reading:
            raise KeyboardInterrupt

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()
