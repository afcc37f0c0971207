"""Sequences that cannot be used, told as they come and summed up at the end."""

from collections import Counter

from rich.console import Console

from streamlearn.errors import Reason, RecordError

SHOWN = 20


class Refusals:
    """Prints the first refusals to `console` and counts all."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._counts: Counter[Reason] = Counter()

    def __call__(self, error: RecordError) -> None:
        """Take one."""
        self._counts[error.reason] += 1
        if self._counts.total() <= SHOWN:
            self._say(f"refused: {error}")

    def __bool__(self) -> bool:
        """Tell whether there were any."""
        return bool(self._counts)

    def summarize(self) -> None:
        """Print how many there were of each reason, if any."""
        if self._counts:
            counts = ", ".join(f"{count} {reason}" for reason, count in self._counts.most_common())
            self._say(f"refused in all: {counts}")

    def _say(self, line: str) -> None:
        # One line each however wide the terminal: they are searched for and piped.
        self._console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
