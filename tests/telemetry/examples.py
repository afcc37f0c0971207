"""One event of each kind, as the loop tells them."""

from dataclasses import fields as fields_of

import numpy as np

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
    Standing,
    StateChanged,
)

TP = TopicPartition("orders", 3)
STANDING = {field.name for field in fields_of(Standing)}


def learned(sequences=2, tokens=7, token_mistakes=3, sequence_mistakes=1, updates=1, loss=0.5, **changes):
    """Return a batch with these totals; what is left of them is in its first sequence."""
    batch = {"decode_seconds": 0.002, "learn_seconds": 0.02, "standing": standing(**_of_standing(changes))}
    arrays = {
        "lengths": spread(tokens, sequences),
        "wrong": spread(token_mistakes, sequence_mistakes, sequences),
        "updated": np.arange(sequences) < updates,
        "losses": np.full(sequences, loss / sequences),
    }
    return Learned(**(batch | arrays | {name: changes[name] for name in changes.keys() - STANDING}))


def standing(**changes):
    fields = {
        "progressive": {"accuracy/token/recent": 0.75, "f1/micro/lifetime": 0.5},
        "gauges": {"features_known": 12.0, "features_refused": 4.0, "weights_norm": 1.5},
        "sequences_seen": 1002,
        "labels": {f"y{n}": LabelScore(0.5, 0.5, 0.5, 3) for n in range(9)},
    }
    return Standing(**(fields | changes))


def resumed(**changes):
    """Return a checkpoint with the standing of `changes`, and otherwise as they say."""
    fields = {"seq": 3, "size_bytes": 2048, "created_unix": 1_600_000_000.0}
    given = {name: changes[name] for name in changes.keys() - STANDING}
    return Resumed(**(fields | {"standing": standing(**_of_standing(changes))} | given))


def spread(total, parts, size=None):
    """Return whole numbers with this sum: the first `parts` of `size` nearly equal, the others 0."""
    numbers = np.zeros(size or parts, np.int64)
    if parts:
        numbers[:parts] = total // parts
        numbers[0] += total % parts
    return numbers


def _of_standing(changes):
    return {name: changes[name] for name in changes.keys() & STANDING}


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
        "sequences_seen": 1002,
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
        resumed(sequences_seen=1000, corrupt=1),
        polled(),
        rejected(),
        Gap(TP, 5, lost=True),
        Gap(TP, 6, lost=False),
        learned(),
        written(),
        failed(),
    ]
