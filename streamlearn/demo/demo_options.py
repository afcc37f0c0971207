"""The options of a demo run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CHANGE_AT = 20_000


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Amount and speed of the data, and the place of the distribution shift.

    Attributes
    ----------
    rate : sequences per second; 0 is unlimited.
    sequences, seconds : when to stop, whichever comes first; None is unlimited.
    change : sequence number of the distribution shift; None is the middle, see `change_at`.
    state : directory to keep the checkpoints in; None uses a temporary one.
    port : of the metrics; a free one is used if it is taken.
    seed : of the generated data.
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
        """Expected number of sequences, or None if unknown."""
        by_time = int(self.seconds * self.rate) if self.seconds and self.rate else None
        bounds = [bound for bound in (self.sequences, by_time) if bound]
        return min(bounds, default=None)

    @property
    def change_at(self) -> int:
        """Sequence number of the distribution shift: the middle of a run of known length.

        >>> options = DemoOptions(sequences=3000), DemoOptions(rate=100, seconds=60), DemoOptions()
        >>> [each.change_at for each in options]
        [1500, 3000, 20000]
        """
        if self.change is not None:
            return self.change
        return self.expected // 2 if self.expected else _CHANGE_AT

    @property
    def span(self) -> int:
        """Sequences on the axis of the chart."""
        return self.expected or 2 * self.change_at
