"""Whether a stream has been read to where it ended at first."""

from streamlearn.data import TopicPartition
from streamlearn.stream.source import Source


class CatchUp:
    """Decides when everything is read that was there at the start.

    The end of a partition counts as it was when first known. A partition whose end is not known yet, since it
    has no leader or no broker answers, is waited for.

    Parameters
    ----------
    source : opened.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ends: dict[TopicPartition, int] = {}

    def __call__(self) -> bool:
        """Return whether all partitions have been read to their ends; to be called after every poll."""
        status = self._source.status()
        for tp, at in status.items():
            if at.high_watermark is not None:
                self._ends.setdefault(tp, at.high_watermark)
        return self._ends.keys() >= status.keys() and self._source.has_read_to(self._ends)
