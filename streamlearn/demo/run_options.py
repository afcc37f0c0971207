"""What a run of the demo is to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CHANGE_AT = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is fed and how fast, and when the world changes.

    Attributes
    ----------
    rate : sequences a second; 0 is as fast as it goes.
    sequences, seconds : when to end, whichever comes first; None is not at all.
    change : sequence number at which the world changes; None is in the middle, see `change_at`.
    state : directory that keeps the checkpoints; None uses one that is removed.
    port : of the metrics; where it is taken, a free one is used instead.
    seed : of the generated world.
    overrides : ``dotted.key=value`` over the demo's configuration.
    """

    rate: float = 1000.0
    sequences: int | None = None
    seconds: float | None = None
    change: int | None = None
    state: Path | None = None
    port: int = 9464
    seed: int = 2
    overrides: Sequence[str] = ()

    @property
    def expected(self) -> int | None:
        """How many sequences the run will have, as far as one can tell."""
        by_time = int(self.seconds * self.rate) if self.seconds and self.rate else None
        bounds = [bound for bound in (self.sequences, by_time) if bound]
        return min(bounds, default=None)

    @property
    def change_at(self) -> int:
        """Sequence number at which the world changes: the middle of a run that has one.

        >>> Plan(sequences=3000).change_at, Plan(rate=100, seconds=60).change_at, Plan().change_at
        (1500, 3000, 20000)
        """
        if self.change is not None:
            return self.change
        return self.expected // 2 if self.expected else _CHANGE_AT

    @property
    def span(self) -> int:
        """Sequences to make room for in a chart."""
        return self.expected or 2 * self.change_at
