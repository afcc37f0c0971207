"""Counting the sequences of a file: accepted, repaired and rejected, with the first error messages."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from streamlearn.errors import Reason, RecordError


@dataclass(slots=True)
class ReadReport:
    """Counts of reading one or more files.

    Attributes
    ----------
    accepted : number of sequences returned.
    refused : number of rejected sequences by reason.
    repaired : number of repairs and skipped lines by kind ("-DOCSTART- rows skipped").
    messages : the first `max_messages` errors, each "file:line: what is wrong".
    on_refused : called with every error, if given.
    """

    accepted: int = 0
    refused: Counter[Reason] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    max_messages: int = 20
    on_refused: Callable[[RecordError], None] | None = None

    def refuse(self, error: RecordError) -> None:
        """Count a rejected sequence, and keep its message if there is room."""
        self.refused[error.reason] += 1
        if len(self.messages) < self.max_messages:
            self.messages.append(str(error))
        if self.on_refused is not None:
            self.on_refused(error)
