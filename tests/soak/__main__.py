"""The soak as one command: three brokers, every fault again and again, and what became of the records.

    python -m tests.soak --minutes 60

prints one JSON object, and ends with 1 if a record was lost, applied twice or out of order.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.kafka.cluster import running_cluster
from tests.soak.faults import OF_THE_DAEMON
from tests.soak.outages import OF_BROKERS, all_away_for_a_minute
from tests.soak.soak import Fault, Soak
from tests.soak.topics import OF_TOPICS

# Rounds of all other faults between two minutes without any broker.
ROUNDS = 5


def endless(seed: int) -> Iterator[Fault]:
    """Return faults, those of brokers twice in a round, in random order."""
    drawn = random.Random(seed)
    while True:
        for _ in range(ROUNDS):
            faults = OF_THE_DAEMON + OF_BROKERS + OF_TOPICS + OF_BROKERS
            yield from drawn.sample(faults, len(faults))
        yield all_away_for_a_minute


def timed(faults: Iterator[Fault], minutes: float) -> Iterator[Fault]:
    """Return faults until time is up."""
    end = time.monotonic() + 60 * minutes
    for number, fault in enumerate(faults):
        if time.monotonic() > end:
            return
        print(f"{time.strftime('%H:%M:%S')} {number} {fault.__name__}", file=sys.stderr, flush=True)
        yield fault


def main() -> None:
    """Soak, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where state, log and brokers are; else a temporary one")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="soak"))
    folder.mkdir(exist_ok=True)
    with running_cluster(folder) as cluster:
        soak = Soak(cluster, "soak", folder, options.seed)
        report = soak.run(timed(endless(options.seed), options.minutes))
    print(report)
    sys.exit(not report.is_fine)


if __name__ == "__main__":
    main()
