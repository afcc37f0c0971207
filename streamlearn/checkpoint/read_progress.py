"""How far a daemon has read beyond its last checkpoint, to recognize replayed records after a restart."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from streamlearn.data import TopicPartition

REACHED_NAME = "reached.json"


class ReadProgress:
    """A file of next offsets that is overwritten in place after every batch.

    It is only used for metrics, so it is not synced: it survives a crash of the process, but maybe not of the
    machine. If it is missing or damaged, nothing is known.

    Parameters
    ----------
    directory : the state directory; None (for a remote state) stores nothing.

    Attributes
    ----------
    before : how far the previous process had read each partition.
    """

    def __init__(self, directory: Path | None) -> None:
        self._path = directory / REACHED_NAME if directory else Path(os.devnull)
        self._offsets: dict[TopicPartition, int] = {}
        with suppress(OSError, ValueError, TypeError):
            rows = json.loads(self._path.read_text())
            self._offsets = {TopicPartition(topic, partition): int(at) for topic, partition, at in rows}
        self.before: Mapping[TopicPartition, int] = dict(self._offsets)

    def note(self, positions: Mapping[TopicPartition, int]) -> None:
        """Store the positions of partitions; errors such as a full disk are ignored."""
        self._offsets.update(positions)
        rows = [[tp.topic, tp.partition, at] for tp, at in self._offsets.items()]
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.ftruncate(descriptor, os.pwrite(descriptor, json.dumps(rows).encode(), 0))
            finally:
                os.close(descriptor)
