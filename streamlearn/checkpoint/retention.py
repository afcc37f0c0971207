"""Which generations are kept: the newest, and one an hour and a day of the past."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamlearn.errors import ConfigError

_MIN_KEEP = 3
_HOUR_SECONDS = 3600
_DAY_SECONDS = 24 * _HOUR_SECONDS


@dataclass(frozen=True, slots=True)
class Retention:
    """How much history stays.

    Attributes
    ----------
    newest : generations, at least 3.
    hourly, daily : of as many of the last hours and days (UTC) in which there was one, the newest.

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
            raise ConfigError(f"checkpoint keep: got {self.newest}, wanted {_MIN_KEEP} or more")

    def kept(self, created: Mapping[int, float]) -> set[int]:
        """Return the numbers of the generations that stay, of those with these times (Unix)."""
        newest_first = sorted(created, reverse=True)
        kept = set(newest_first[: self.newest])
        for count, seconds in ((self.hourly, _HOUR_SECONDS), (self.daily, _DAY_SECONDS)):
            # Of each period the first that is met, which is its newest.
            firsts: dict[int, int] = {}
            for seq in newest_first:
                firsts.setdefault(int(created[seq] // seconds), seq)
            kept |= set(list(firsts.values())[:count])
        return kept
