"""The checkpoints of a state: listing, verifying, and rolling back to one."""

from collections.abc import Iterator
from typing import Any

from streamlearn.checkpoint.location import open_checkpoint, open_store
from streamlearn.checkpoint.reading import CheckpointInfo
from streamlearn.data import format_positions
from streamlearn.errors import CheckpointError


def listed(state: str) -> Iterator[dict[str, Any]]:
    """Describe every checkpoint, oldest first, from its header alone.

    Raises
    ------
    CheckpointError : there is none.
    """
    found = open_store(state).checkpoints()
    if not found:
        raise CheckpointError(f"{state}: no checkpoint in this state")
    return map(_row, found)


def verified(state: str) -> Iterator[dict[str, Any]]:
    """Describe every checkpoint, oldest first, after reading it in full and verifying its checksum."""
    for row in listed(state):
        try:
            open_checkpoint(row["file"])
        except CheckpointError as error:
            row |= {"ok": False, "error": str(error)}
        yield row


def roll_back(state: str, seq: int) -> dict[str, Any]:
    """Make an older checkpoint the newest, and describe it.

    Raises
    ------
    StateLockedError : a daemon is running.
    CheckpointError : there is no such checkpoint, or it does not verify.
    """
    store = open_store(state)
    with store.lock():
        return _row(store.roll_back(seq))


def _row(info: CheckpointInfo) -> dict[str, Any]:
    checkpoint = info.checkpoint
    row: dict[str, Any] = {
        "file": info.where,
        "seq": info.seq,
        "size_bytes": info.size_bytes,
        "ok": checkpoint is not None,
        "error": info.error,
    }
    if checkpoint:
        row |= {
            "created_unix": checkpoint.created_unix,
            "sequences_seen": checkpoint.sequences_seen,
            "app_version": checkpoint.app_version,
            "positions": format_positions(checkpoint.positions),
        }
    return row
