"""Checkpoints to test with, and files built from the documented layout alone."""

import struct

import numpy as np
import xxhash

from streamlearn.checkpoint.state import Checkpoint
from streamlearn.data import Position, StreamIdentity, TopicPartition


def make_checkpoint(seq=0, model=None, **changes):
    fields = {
        "model_id": "np",
        "run_id": "run-1",
        "seq": seq,
        "created_unix": 1.7e9 + seq,
        "app_version": "0.1.0",
        "config_digest": "abc",
        "config": {"learner": {"kind": "perceptron", "rate": 0.5}},
        "identity": StreamIdentity("cluster", {"orders": "topic-id"}),
        "positions": {TopicPartition("orders", 3): Position(10 + seq, 9 + seq, 1_700_000_000_000, 7)},
        "sequences_seen": 10 * seq,
        "progressive": {"accuracy": [0.5, 0.75]},
        "model": {"learner": {"weights": np.full(1000, float(seq))}} if model is None else model,
    }
    return Checkpoint(**(fields | changes))


def assert_same_checkpoint(got, wanted):
    assert_same(got.to_state(), wanted.to_state())


def assert_same(got, wanted):
    """Equal in type, value and order; arrays equal in shape, bytes and little-endian dtype."""
    if isinstance(wanted, np.ndarray):
        little_endian = wanted.astype(wanted.dtype.newbyteorder("<"))
        assert (got.dtype, got.shape) == (little_endian.dtype, wanted.shape)
        assert got.tobytes() == little_endian.tobytes()
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key in wanted:
            assert_same(got[key], wanted[key])
    elif isinstance(wanted, list):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, float):
        assert struct.pack("<d", got) == struct.pack("<d", wanted)
    else:
        assert (type(got), got) == (type(wanted), wanted)


def frame(header, data=b"", version=1, reserved=0):
    """Return a file whose checksums are right, whatever is in it."""
    prefix = struct.pack("<8sIIQQ", b"\x89SLCP\r\n\x1a", version, reserved, len(header), len(data))
    head = prefix + xxhash.xxh3_128(prefix + header).digest() + header
    body = head + bytes(-len(head) % 64) + data
    return body + xxhash.xxh3_128(body).digest() + b"PCLSEND\n"
