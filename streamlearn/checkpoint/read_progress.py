"""How far a daemon has read, beyond what its checkpoints hold: by it, what is read again can be told."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from streamlearn.data import TopicPartition

REACHED_NAME = "reached.json"


class Reached:
    """A file of next offsets that is overwritten in place, after every batch.

    Nothing is learned by it: it is not synced, survives the process but perhaps not the machine, and where it
    is missing or damaged nothing is known.

    Parameters
    ----------
    directory : the state directory; None, where the state is remote, notes nothing.

    Attributes
    ----------
    before : how far an earlier process had read each partition.
    """

    def __init__(self, directory: Path | None) -> None:
        self._path = directory / REACHED_NAME if directory else Path(os.devnull)
        self._offsets: dict[TopicPartition, int] = {}
        with suppress(OSError, ValueError, TypeError):
            rows = json.loads(self._path.read_text())
            self._offsets = {TopicPartition(topic, partition): int(at) for topic, partition, at in rows}
        self.before: Mapping[TopicPartition, int] = dict(self._offsets)

    def note(self, positions: Mapping[TopicPartition, int]) -> None:
        """Note where partitions stand; a disk that is full does not stop learning."""
        self._offsets.update(positions)
        rows = [[tp.topic, tp.partition, at] for tp, at in self._offsets.items()]
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.ftruncate(descriptor, os.pwrite(descriptor, json.dumps(rows).encode(), 0))
            finally:
                os.close(descriptor)
