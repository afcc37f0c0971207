"""Whether memory stays flat: the daemon on a stream where every feature, label, word, key and fault is new.

    python -m tests.soak.memory --records 2_000_000

runs the daemon itself, without a broker, on small tables that are soon full, and prints one JSON object:
resident memory in MB and Python's objects at eight instants, and what they grew by in the last half.
"""

import argparse
import gc
import itertools
import json
import os
import random
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamlearn.app.run import Daemon
from streamlearn.config.load import load
from streamlearn.data import PartitionStatus, Position, Record, StreamIdentity, TopicPartition
from tests.sequences import write_config
from tests.stream.memory import MemoryRecord

PARTITIONS = 4
POLL = 500
INSTANTS = 8
# Every cache and table is full after some thousand records.
BOUNDS = {
    "features": {
        "columns": ["w"],
        "templates": "U00:%x[0,w]\nU01:%x[0,w.suffix3]\n*02:%x[0,w]\nB\n",
        "max_features": 5_000,
        "max_edge_features": 500,
        "names": 5_000,
        "cache": 1_000,
    },
    "labels": {"max": 30},
    "learner": {"kind": "adf", "replay_tokens": 2_000},
    "dead_letters": {"policy": "skip"},
    "metrics": {"port": 0},
}
SOURCE = {"topics": ["new"], "deduplicate": "key", "deduplicate_window": 2_000}


def record(number: int, drawn: random.Random) -> tuple[bytes, bytes | None, list[tuple[str, bytes]]]:
    """Make key, value and headers of a record like none before it; one of a hundred is bad in its own way."""
    key, headers = b"key-%d" % number, [(f"header-{number}", b"%d" % number)]
    if drawn.random() < 0.01:
        return key, drawn.choice([None, b"bad-%d" % number, b'{"labels-%d": []}' % number]), headers
    words = [f"w{number}-{t}" if drawn.random() < 0.5 else f"w{drawn.randrange(1000)}" for t in range(6)]
    labels = [f"L{number}" if drawn.random() < 0.002 else f"L{drawn.randrange(5)}" for _ in words]
    value = {"id": f"id-{number}", "columns": {"w": words, f"other-{number}": words}, "labels": labels}
    return key, json.dumps(value).encode(), headers


class EverNew:
    """A source without end; what it gave is nowhere kept.

    Parameters
    ----------
    watch : called with the number of records so far at every poll.
    """

    connected = True

    def __init__(self, seed: int, watch: "Watch") -> None:
        self._drawn = random.Random(seed)
        self._watch = watch
        self._next = {TopicPartition("new", p): 0 for p in range(PARTITIONS)}
        self._count = 0

    def identity(self) -> StreamIdentity:
        return StreamIdentity("memory", {"new": "1"})

    def start_positions(self) -> dict[TopicPartition, Position]:
        return {tp: Position(at) for tp, at in self._next.items()}

    def open(self, positions: Mapping[TopicPartition, Position]) -> dict[TopicPartition, int]:
        self._next = {tp: at.next_offset for tp, at in positions.items()}
        return {}

    def poll(self, timeout_seconds: float) -> Sequence[Record]:  # noqa: ARG002
        self._watch(self._count)
        return list(itertools.islice(self._records(), POLL))

    def _records(self) -> Iterator[Record]:
        for tp in itertools.cycle(self._next):
            key, value, headers = record(self._count, self._drawn)
            made = MemoryRecord(*tp, self._next[tp], 1_700_000_000_000 + self._count, key, value, headers)
            self._next[tp] += 1
            self._count += 1
            yield made

    def restrict(self, partitions: Sequence[TopicPartition]) -> None:
        raise NotImplementedError

    def status(self) -> dict[TopicPartition, PartitionStatus]:
        return {tp: PartitionStatus(at, at, 0) for tp, at in self._next.items()}

    def commit(self, positions: Mapping[TopicPartition, Position]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Have nothing to close."""


class Watch:
    """Looks at memory at instants that divide a stream evenly, and at the daemon's pages."""

    def __init__(self, records: int) -> None:
        self._records = records
        self._step = records // INSTANTS
        self.url = ""
        self.megabytes: list[float] = []
        # A daemon that keeps something of each record has one object more for each of them, at the least.
        self.objects: list[int] = []

    def __call__(self, count: int) -> None:
        """Take a measurement if one is due after this number of records."""
        if count >= (len(self.megabytes) + 1) * self._step:
            for page in ("metrics", "status.json"):
                fetch(f"{self.url}/{page}")
            gc.collect()
            self.megabytes.append(resident_megabytes())
            self.objects.append(sys.getallocatedblocks())

    @property
    def is_over(self) -> bool:
        """Whether the last instant has been."""
        return len(self.megabytes) >= INSTANTS

    def report(self) -> dict[str, Any]:
        """Return what was seen."""
        half = INSTANTS // 2
        megabytes = self.megabytes[-1] - self.megabytes[half - 1]
        objects = self.objects[-1] - self.objects[half - 1]
        records = half * self._step
        return {
            "records": self._records,
            "megabytes": [round(size, 1) for size in self.megabytes],
            "objects": self.objects,
            "megabytes_per_million_records": round(megabytes / records * 1e6, 2),
            "objects_per_record": round(objects / records, 4),
        }


def fetch(url: str) -> bytes:
    """Get a page."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        page: bytes = answer.read()
    return page


def resident_megabytes() -> float:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(folder: Path, records: int, seed: int = 1, quantum: int = 10) -> dict[str, Any]:
    """Learn this number of records, and report.

    Parameters
    ----------
    quantum : sequences that make one value of a signal of drift, of which the newest 4,096 are kept: a run
        should be much longer than these, or much shorter than one of them.
    """
    watch = Watch(records)
    drift = {"detectors": ["adwin", "page_hinkley"], "quantum": quantum}
    checkpoint = {"directory": str(folder / "state"), "every_records": max(1000, records // 100)}
    sections = {**BOUNDS, "source": SOURCE, "checkpoint": checkpoint, "drift": drift}
    config = load(write_config(folder / "config.yaml", **sections))
    daemon = Daemon(config, lambda: watch.is_over)
    daemon._source = EverNew(seed, watch)
    watch.url = daemon.url
    daemon.run()
    return watch.report()


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(run(Path(folder), options.records, options.seed)))


if __name__ == "__main__":
    main()
