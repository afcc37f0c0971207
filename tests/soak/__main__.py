"""The soak as one command: three brokers, every fault again and again, and what became of the records.

    python -m tests.soak --minutes 30

prints one JSON object, and ends with 1 if a record was lost, applied twice or out of order.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.kafka.cluster import running_cluster
from tests.soak.faults import OF_BROKERS, OF_THE_DAEMON
from tests.soak.soak import Soak


def main() -> None:
    """Soak, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where state, log and brokers are; else a temporary one")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="soak"))
    with running_cluster(folder) as cluster:
        soak = Soak(cluster.server, "soak", folder, options.seed, lambda: cluster.leader_of("soak"))
        end = time.monotonic() + 60 * options.minutes
        report = soak.run(OF_THE_DAEMON + OF_BROKERS, lambda: time.monotonic() < end)
    print(report)
    sys.exit(not report.is_fine)


if __name__ == "__main__":
    main()
