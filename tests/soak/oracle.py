"""In the place of a model: what was applied, in which order, and how often."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamlearn.data import Batch, Example, Record
from streamlearn.errors import Reason, RecordError
from streamlearn.features.encoder import EncodedBatch

BAD = b"bad"


@dataclass
class Applied:
    """One partition: a chain over its records in their order, a bit for each offset, and what came twice."""

    chain: int = 0
    bitmap: np.ndarray[Any, np.dtype[np.bool_]] = field(default_factory=lambda: np.zeros(1024, np.bool_))
    doubled: int = 0

    def add(self, offset: int, crc: int) -> None:
        """Apply a record."""
        if offset >= len(self.bitmap):
            self.bitmap = np.concatenate([self.bitmap, np.zeros(offset + 1, np.bool_)])
        self.doubled += int(self.bitmap[offset])
        self.bitmap[offset] = True
        self.chain = zlib.crc32(struct.pack("<qI", offset, crc), self.chain)

    @property
    def offsets(self) -> set[int]:
        """The offsets that were applied."""
        return set(np.flatnonzero(self.bitmap).tolist())


class Oracle:
    """Codec, encoder and pipeline of a daemon in one; its state is what a checkpoint saves as the model.

    Attributes
    ----------
    removed : how many records were reported as deleted by retention, by the position they were missed at:
        a place is told again by each life that begins before it.
    """

    def __init__(self) -> None:
        self.partitions: dict[int, Applied] = {}
        self.removed: dict[str, int] = {}
        self._batch: Batch | None = None

    def decode_record(self, record: Record) -> Example:
        """Take where a record was, and its value's checksum, for an example."""
        value = record.value or b""
        if value.startswith(BAD):
            raise RecordError(Reason.SYNTAX, "a bad record")
        row = record.partition, record.offset, zlib.crc32(value)
        return Example({"row": [str(number) for number in row]})

    def encode(self, examples: Sequence[Example]) -> EncodedBatch:
        """Make a batch of a row for each example."""
        n = len(examples)
        rows = [[int(text) for text in example.columns["row"]] for example in examples]
        batch = Batch(
            starts=np.arange(n + 1, dtype=np.int64),
            values=np.array(rows, np.uint64).reshape(n, 3),
            attributes=np.zeros(0, np.uint64),
            attribute_starts=np.zeros(n + 1, np.int64),
            attribute_values=np.zeros(0),
            labels=np.zeros(n, np.int32),
            labels_known=np.ones(n, np.int32),
            importance=np.ones(n),
            evidence=np.zeros((n, 7), np.uint8),
            names_known=0,
        )
        return EncodedBatch(batch, list(examples), [])

    def submit(self, batch: Batch, decode_seconds: float) -> None:  # noqa: ARG002
        """Begin to apply a batch."""
        self._batch = batch

    def settle(self) -> None:
        """Apply it."""
        batch, self._batch = self._batch, None
        for partition, offset, crc in () if batch is None else batch.values.tolist():
            self.partitions.setdefault(partition, Applied()).add(offset, crc)

    def state(self) -> dict[str, Any]:
        """Copy everything."""
        partitions = {
            str(partition): {"chain": a.chain, "bitmap": a.bitmap.copy(), "doubled": a.doubled}
            for partition, a in self.partitions.items()
        }
        return {"partitions": partitions, "removed": dict(self.removed)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.partitions = {
            int(partition): Applied(a["chain"], a["bitmap"].copy(), a["doubled"])
            for partition, a in state["partitions"].items()
        }
        self.removed = dict(state["removed"])
