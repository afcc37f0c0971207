"""Sequences that cannot be used: the first are reported as they occur, all are counted at the end."""

from collections import Counter
from collections.abc import Callable

from rich.console import Console

from streamlearn.errors import Reason, RecordError

SHOWN = 20


class RejectedSequences:
    """Prints the first rejected sequences to `console` and counts all."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._counts: Counter[Reason] = Counter()

    def __call__(self, error: RecordError) -> None:
        """Count one, and print it if it is among the first."""
        self._counts[error.reason] += 1
        if self._counts.total() <= SHOWN:
            self._print(f"rejected: {error}")

    def __bool__(self) -> bool:
        """Return whether there were any."""
        return bool(self._counts)

    def summarize(self) -> None:
        """Print the number of each reason, if there were any."""
        if self._counts:
            counts = ", ".join(f"{count} {reason}" for reason, count in self._counts.most_common())
            self._print(f"rejected in total: {counts}")

    def _print(self, line: str) -> None:
        _print(self._console, line)


def warning(console: Console) -> Callable[[str], None]:
    """Return a function that prints warnings."""
    return lambda text: _print(console, f"warning: {text}")


def _print(console: Console, line: str) -> None:
    # One line each however wide the terminal: they are searched for and piped.
    console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
