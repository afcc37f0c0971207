"""Which checkpoints are kept: the newest, and one per hour and per day."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamlearn.errors import ConfigError

_MIN_KEEP = 3
_HOUR_SECONDS = 3600
_DAY_SECONDS = 24 * _HOUR_SECONDS


@dataclass(frozen=True, slots=True)
class Retention:
    """How many checkpoints to keep.

    Attributes
    ----------
    newest : number of newest checkpoints, at least 3.
    hourly, daily : number of hours and days (UTC) of which to keep the newest checkpoint; hours and days
        without a checkpoint do not count.

    Raises
    ------
    ConfigError : fewer than 3.

    Examples
    --------
    >>> sorted(Retention(newest=3, daily=3).kept({seq: seq * 43200.0 for seq in range(9)}))
    [5, 6, 7, 8]
    """

    newest: int = _MIN_KEEP
    hourly: int = 0
    daily: int = 0

    def __post_init__(self) -> None:
        if self.newest < _MIN_KEEP:
            raise ConfigError(f"checkpoint.keep: got {self.newest}, wanted {_MIN_KEEP} or more")

    def kept(self, created: Mapping[int, float]) -> set[int]:
        """Return the numbers of the checkpoints to keep, given the times at which all were created (Unix)."""
        newest_first = sorted(created, reverse=True)
        kept = set(newest_first[: self.newest])
        for count, seconds in ((self.hourly, _HOUR_SECONDS), (self.daily, _DAY_SECONDS)):
            # The first one met in each period is its newest.
            firsts: dict[int, int] = {}
            for seq in newest_first:
                firsts.setdefault(int(created[seq] // seconds), seq)
            kept |= set(list(firsts.values())[:count])
        return kept
