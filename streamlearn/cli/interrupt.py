"""Ctrl-C and SIGTERM for commands that read: end between two sequences, or while waiting for input."""

import signal
import time
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

_SLICE_SECONDS = 0.1


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
