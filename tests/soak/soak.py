"""A daemon through faults, and afterwards the question: is every record applied once, and in order?"""

import json
import random
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from streamlearn.checkpoint.generations import open_checkpoint
from streamlearn.errors import CheckpointError
from streamlearn.stream.spool import read_spool
from tests.kafka.broker import ApacheKafka
from tests.soak import feed
from tests.soak.faults import Fault
from tests.soak.oracle import BAD, Applied, Oracle
from tests.soak.worker import SPOOL
from tests.waiting import until

SECONDS = 300


@dataclass
class Report:
    """What was survived, and what became of the records."""

    faults: Counter[str] = field(default_factory=Counter)
    aborted_transactions: int = 0
    records: int = 0
    applied: int = 0
    lost: int = 0
    doubled: int = 0
    partitions_out_of_order: int = 0
    bad_records: int = 0
    bad_records_without_letter: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether nothing was lost and nothing was applied twice."""
        wrong = self.lost, self.doubled, self.partitions_out_of_order, self.bad_records_without_letter
        return wrong == (0, 0, 0, 0) and self.applied == self.records > 0

    def __str__(self) -> str:
        """Give it as JSON."""
        return json.dumps(vars(self))


class Soak:
    """One daemon, one topic, and what is done to them.

    Parameters
    ----------
    node : gives a broker to ill-treat, one that leads a partition.
    """

    def __init__(
        self, server: str, topic: str, folder: Path, seed: int, node: Callable[[], ApacheKafka] | None = None
    ) -> None:
        self.server = server
        self.topic = topic
        self.state = folder / "state"
        self.state.mkdir()
        self.random = random.Random(seed)
        self.report = Report()
        self._seed = seed
        self._node = node
        self._log: IO[bytes] = (folder / "log").open("ab")
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, faults: Sequence[Fault], goes_on: Callable[[], bool]) -> Report:
        """Do one fault after the other as long as it goes on, in random order; then compare."""
        feed.create(self.server, self.topic, 3)
        records = feed.Feed(self.server, self.topic, self._seed)
        records.start()
        self.start()
        try:
            while goes_on():
                for fault in self.random.sample(faults, len(faults)):
                    self._recovered()
                    fault(self)
                    self.report.faults[fault.__name__] += 1
            self._recovered()
            records.stop()
            self.report.aborted_transactions = records.aborted
            self._compare(feed.truth(self.server, self.topic))
        finally:
            self.end()
        return self.report

    def start(self, step: str | None = None) -> None:
        """Start the daemon."""
        self._process = self._spawn(step)

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait until it has ended; give the exit code."""
        assert self._process is not None
        return self._process.wait(SECONDS)

    def second(self) -> int:
        """Start another one on the same state; give its exit code."""
        return self._spawn(None).wait(SECONDS)

    def node(self) -> ApacheKafka:
        """Give a broker that leads a partition."""
        assert self._node is not None
        return self._node()

    def end(self) -> None:
        """Leave nothing behind."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _spawn(self, step: str | None) -> "subprocess.Popen[bytes]":
        options = {"server": self.server, "topic": self.topic, "state": str(self.state), "step": step}
        command = [sys.executable, "-m", "tests.soak.worker", json.dumps(options)]
        return subprocess.Popen(command, stderr=self._log)

    def _recovered(self) -> None:
        """Wait until more is applied than now."""
        before = self._count()
        until(lambda: self._count() > before, SECONDS, "the recovery")

    def _count(self) -> int:
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"the daemon ended with {code}"
        return sum(len(applied.offsets) for applied in self._applied().values())

    def _applied(self) -> dict[int, Applied]:
        oracle = Oracle()
        try:
            oracle.restore(open_checkpoint(self.state).checkpoint.model)
        except CheckpointError:
            # None yet, or one that was pruned while it was opened.
            return {}
        return oracle.partitions

    def _compare(self, wanted: dict[int, list[tuple[int, bytes]]]) -> None:
        good = {
            p: [(at, value) for at, value in log if not value.startswith(BAD)] for p, log in wanted.items()
        }
        self.report.records = sum(map(len, good.values()))
        until(lambda: self._count() >= self.report.records, SECONDS, "the end of the topic")
        applied = self._applied()
        for partition, log in good.items():
            found, right = applied.get(partition, Applied()), Applied()
            for offset, value in log:
                right.add(offset, zlib.crc32(value))
            self.report.applied += len(found.offsets & right.offsets)
            self.report.lost += len(right.offsets - found.offsets)
            self.report.doubled += found.doubled + len(found.offsets - right.offsets)
            self.report.partitions_out_of_order += found.chain != right.chain
        bad = {
            f"{self.topic}[{p}]@{at}"
            for p, log in wanted.items()
            for at, value in log
            if value.startswith(BAD)
        }
        letters = {letter.place for letter in read_spool(self.state / SPOOL)}
        self.report.bad_records = len(bad)
        self.report.bad_records_without_letter = len(bad - letters)
