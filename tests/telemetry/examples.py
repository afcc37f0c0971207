"""One event of each kind, as the loop tells them."""

from streamlearn.data import PartitionStatus, TopicPartition
from streamlearn.errors import Reason
from streamlearn.events import (
    CheckpointDone,
    Gap,
    LabelScore,
    Learned,
    Polled,
    Rejected,
    Resumed,
    StateChanged,
)

TP = TopicPartition("orders", 3)


def learned(**changes):
    fields = {
        "sequences": 2,
        "tokens": 7,
        "sequence_mistakes": 1,
        "token_mistakes": 3,
        "updates": 1,
        "loss": 0.5,
        "lengths": [3, 4],
        "decode_seconds": 0.002,
        "learn_seconds": 0.02,
        "progressive": {"accuracy/token/recent": 0.75, "f1/micro/lifetime": 0.5},
        "gauges": {"features_known": 12.0, "features_refused": 4.0, "weights_norm": 1.5},
        "sequences_seen": 1002,
        "labels": {f"y{n}": LabelScore(0.5, 0.5, 0.5, 3) for n in range(9)},
    }
    return Learned(**(fields | changes))


def polled(partitions=1, connected=True, status=None, **changes):
    tps = [TopicPartition("orders", n) for n in range(partitions)]
    fields = {
        "records": dict.fromkeys(tps, 5),
        "bytes": dict.fromkeys(tps, 500),
        "last_timestamp_ms": dict.fromkeys(tps, 1_700_000_000_500),
        "partitions": dict.fromkeys(tps, status or PartitionStatus(10, 14, 4)),
    }
    return Polled(**(fields | changes), connected=connected)


def rejected(reason=Reason.LENGTH):
    return Rejected("orders", 3, 1841, reason, "orders[3]@1841: 7 labels for 6 tokens")


def written(**changes):
    fields = {
        "outcome": "written",
        "seq": 4,
        "size_bytes": 4096,
        "copy_seconds": 0.05,
        "write_seconds": 0.5,
        "disk_free_bytes": 10**9,
    }
    return CheckpointDone(**(fields | changes))


def failed(message="no space left on device"):
    return written(outcome="failed", size_bytes=0, copy_seconds=0.0, write_seconds=0.0, message=message)


def all_kinds():
    return [
        StateChanged("running"),
        Resumed(3, 1000, 1, created_unix=1_600_000_000.0),
        polled(),
        rejected(),
        Gap(TP, 5, lost=True),
        Gap(TP, 6, lost=False),
        learned(),
        written(),
        failed(),
    ]
