"""What became of a file's sequences: accepted, repaired and refused, with the first messages."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from streamlearn.errors import Reason, RecordError


@dataclass(slots=True)
class ReadReport:
    """Counts of one reading.

    Attributes
    ----------
    accepted : sequences that were given out.
    refused : sequences that were not, by reason.
    repaired : what was put right or skipped on the way, by kind ("-DOCSTART- rows skipped").
    messages : the first `max_messages` refusals, each "file:line: what is wrong".
    on_refused : called with every refusal, if given.
    """

    accepted: int = 0
    refused: Counter[Reason] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    max_messages: int = 20
    on_refused: Callable[[RecordError], None] | None = None

    def refuse(self, error: RecordError) -> None:
        """Count a refusal and keep its message while there is room."""
        self.refused[error.reason] += 1
        if len(self.messages) < self.max_messages:
            self.messages.append(str(error))
        if self.on_refused is not None:
            self.on_refused(error)
