"""The generations of a state: what they are, whether they verify, and going back to one."""

from collections.abc import Iterator
from typing import Any

from streamlearn.checkpoint.location import open_checkpoint, open_store
from streamlearn.checkpoint.reading import CheckpointInfo
from streamlearn.data import format_positions
from streamlearn.errors import CheckpointError


def generations(state: str) -> Iterator[dict[str, Any]]:
    """Describe every generation, oldest first, from its header alone.

    Raises
    ------
    CheckpointError : there is none.
    """
    found = open_store(state).checkpoints()
    if not found:
        raise CheckpointError(f"{state}: no checkpoint in this state")
    return map(_row, found)


def verified(state: str) -> Iterator[dict[str, Any]]:
    """Describe every generation, oldest first, once all of it has been read and its checksum compared."""
    for row in generations(state):
        try:
            open_checkpoint(row["file"])
        except CheckpointError as error:
            row |= {"ok": False, "error": str(error)}
        yield row


def roll_back(state: str, seq: int) -> dict[str, Any]:
    """Make an older generation the newest, and describe it.

    Raises
    ------
    StateLockedError : a daemon runs. CheckpointError : it is not there, or does not verify.
    """
    store = open_store(state)
    with store.lock():
        return _row(store.roll_back(seq))


def _row(generation: CheckpointInfo) -> dict[str, Any]:
    checkpoint = generation.checkpoint
    row: dict[str, Any] = {
        "file": generation.where,
        "seq": generation.seq,
        "size_bytes": generation.size_bytes,
        "ok": checkpoint is not None,
        "error": generation.error,
    }
    if checkpoint:
        row |= {
            "created_unix": checkpoint.created_unix,
            "sequences_seen": checkpoint.sequences_seen,
            "app_version": checkpoint.app_version,
            "positions": format_positions(checkpoint.positions),
        }
    return row
