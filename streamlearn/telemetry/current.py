"""Values that change with the time alone, so that they are asked for whenever they are shown."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A disk that answers at all answers faster.
_PATIENCE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Current:
    """What is only true at the moment; any thread may ask.

    Attributes
    ----------
    last_hour : returns the scores of the last hour that are known.
    free_bytes : returns the free space for checkpoints, or None if it is unknown.
    """

    last_hour: Callable[[], Mapping[str, float]] = dict
    free_bytes: Callable[[], int | None] = lambda: None


class FreeSpace:
    """Asks for the free space on a disk that may hang; unknown while an earlier question has no answer.

    A network disk can hang for hours. Without this, every scrape would leave a thread waiting for it, until
    none is free to answer the probes.

    Parameters
    ----------
    ask : returns the free bytes, or None if they are unknown.

    Examples
    --------
    >>> FreeSpace(lambda: 4096)()
    4096
    """

    def __init__(self, ask: Callable[[], int | None]) -> None:
        self._ask = ask
        self._asking = threading.Lock()

    def __call__(self) -> int | None:
        """Return the free bytes, or None if they are unknown."""
        if not self._asking.acquire(timeout=_PATIENCE_SECONDS):
            return None
        try:
            return self._ask()
        finally:
            self._asking.release()
