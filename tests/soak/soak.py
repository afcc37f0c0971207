"""A daemon through faults, and afterwards the question: is every record applied once, and in order?"""

import random
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from streamlearn.stream.deadletters.spool import read_spool
from tests.kafka.broker import ApacheKafka
from tests.kafka.cluster import Cluster
from tests.soak import feed
from tests.soak.daemon import SECONDS, Daemon
from tests.soak.oracle import BAD, Applied, Oracle
from tests.soak.report import Report
from tests.soak.worker import SPOOL
from tests.waiting import until

PARTITIONS = 3


class Soak:
    """One daemon, one topic, and what is done to them.

    Attributes
    ----------
    log : what was committed to the topic, also where retention has removed it since.
    random : what faults draw their instants and kinds from.
    """

    def __init__(self, cluster: Cluster, topic: str, folder: Path, seed: int) -> None:
        self.cluster = cluster
        self.server = cluster.server
        self.topic = topic
        self.folder = folder
        self.daemon = Daemon(cluster.server, topic, folder)
        self.log = feed.Log(cluster.server, topic)
        self.random = random.Random(seed)
        self.report = Report()
        self._feed = feed.Feed(cluster.server, topic, seed)
        self._removed: dict[int, set[int]] = {}

    def run(self, faults: Iterable["Fault"]) -> Report:
        """Do one fault after the other; then compare."""
        began = time.monotonic()
        feed.create(self.server, self.topic, PARTITIONS)
        self._feed.start()
        self.daemon.start()
        try:
            until(lambda: self.daemon.has_checkpoints(3), SECONDS, "the first checkpoints")
            for fault in faults:
                fault(self)
                self.report.faults[fault.__name__] += 1
                self._recovered()
            self._feed.stop()
            self.report.minutes = round((time.monotonic() - began) / 60, 1)
            self.report.kills = self.daemon.kills
            self.report.aborted_transactions = self._feed.aborted
            self.report.leader_changes = self.cluster.leader_changes(self.topic)
            self._compare()
        finally:
            self._feed.stop()
            self.daemon.end()
        return self.report

    def leader(self) -> ApacheKafka:
        """Return a broker that leads a partition, once no replica is behind: two at once may not be away."""
        return self.cluster.leader_of(self.topic, self.random.randrange(PARTITIONS))

    def remove(self, partition: int, offsets: range) -> None:
        """Note that these were removed before the daemon could read them."""
        self._removed.setdefault(partition, set()).update(offsets)
        self.report.removed += len(offsets)

    def _recovered(self) -> None:
        now = time.time()
        until(lambda: self.daemon.recovered_since(now), SECONDS, "the recovery")

    def _compare(self) -> None:
        ends = self.log.read()
        last = {p: log[-1][0] for p, log in self.log.records.items() if log and ends[p]}
        until(lambda: self._has_reached(last), SECONDS, "the end of the topic")
        oracle = self.daemon.oracle()
        for partition, log in self.log.records.items():
            removed = self._removed.get(partition, set())
            self._compare_partition(oracle, partition, [row for row in log if row[0] not in removed])
        self.report.removed_untold = abs(self.report.removed - sum(oracle.removed.values()))

    def _has_reached(self, last: dict[int, int]) -> bool:
        self.daemon.require_alive()
        return self.daemon.reaches(last)

    def _compare_partition(self, oracle: Oracle, partition: int, log: list[tuple[int, bytes]]) -> None:
        report, found, right = self.report, oracle.partitions.get(partition, Applied()), Applied()
        for offset, value in log:
            if not value.startswith(BAD):
                right.add(offset, zlib.crc32(value))
        report.records += len(right.offsets)
        report.applied += len(found.offsets & right.offsets)
        report.lost += len(right.offsets - found.offsets)
        report.doubled += found.doubled + len(found.offsets - right.offsets)
        report.partitions_out_of_order += found.chain != right.chain
        bad = {f"{self.topic}[{partition}]@{at}" for at, value in log if value.startswith(BAD)}
        letters = {letter.place for letter in read_spool(self.daemon.state / SPOOL)}
        report.bad_records += len(bad)
        report.bad_records_without_letter += len(bad - letters)


Fault = Callable[[Soak], None]
