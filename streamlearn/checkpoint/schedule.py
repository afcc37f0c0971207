"""When the next checkpoint is due, by time and by number of records."""

from streamlearn.errors import ConfigError


class CheckpointSchedule:
    """Due after `every_seconds` or `every_records`, whichever comes first; None turns either off.

    Never due twice for the same count, unless the attempt failed: on an idle stream, identical checkpoints
    would displace older ones.

    Examples
    --------
    >>> schedule = CheckpointSchedule(every_seconds=30.0, every_records=1000)
    >>> schedule.done(now=100.0, sequences=0)
    >>> schedule.due(now=129.0, sequences=999), schedule.due(now=129.0, sequences=1000)
    (False, True)
    >>> schedule.due(now=130.0, sequences=1), schedule.due(now=130.0, sequences=0)
    (True, False)
    """

    def __init__(self, every_seconds: float | None, every_records: int | None) -> None:
        self.change(every_seconds, every_records)
        self._last: tuple[float, int] | None = None
        self._is_failed = False

    def change(self, every_seconds: float | None, every_records: int | None) -> None:
        """Use other intervals from now on, counted from the last checkpoint.

        Raises
        ------
        ConfigError : an interval is not positive.
        """
        for name, interval in (("every_seconds", every_seconds), ("every_records", every_records)):
            if interval is not None and not interval > 0:
                raise ConfigError(f"checkpoint {name}: got {interval}, wanted more than 0, or null")
        self._every_seconds = every_seconds
        self._every_records = every_records

    def due(self, now: float, sequences: int) -> bool:
        """Return whether to write a checkpoint; always True before the first `done`.

        Parameters
        ----------
        now : monotonic seconds.
        sequences : number of records before the positions, rejected ones included; never decreases.
        """
        if self._last is None:
            return True
        last_time, last_sequences = self._last
        if sequences == last_sequences and not self._is_failed:
            return False
        by_time = self._every_seconds is not None and now - last_time >= self._every_seconds
        by_count = self._every_records is not None and sequences - last_sequences >= self._every_records
        return by_time or by_count

    def done(self, now: float, sequences: int) -> None:
        """Restart both intervals: a state was loaded, or a checkpoint was started (even if it then fails).

        Counting from the attempt avoids retrying after every batch when the disk is full.
        """
        self._last, self._is_failed = (now, sequences), False

    def failed(self) -> None:
        """Note that the last attempt failed: the next is due after the interval, even if nothing arrives."""
        self._is_failed = True
