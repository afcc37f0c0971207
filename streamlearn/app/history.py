"""The generations in a state directory: what they are, whether they verify, and going back to one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamlearn.app.reading import in_words
from streamlearn.checkpoint.generations import Generation, describe, open_checkpoint
from streamlearn.checkpoint.store import CheckpointStore
from streamlearn.errors import CheckpointError


def generations(directory: Path) -> Iterator[dict[str, Any]]:
    """Describe every generation, oldest first, from its header alone.

    Raises
    ------
    CheckpointError : there is none.
    """
    found = CheckpointStore(directory).generations()
    if not found:
        raise CheckpointError(f"{directory}: no checkpoint in this directory")
    return map(_row, found)


def verified(directory: Path) -> Iterator[dict[str, Any]]:
    """Describe every generation, oldest first, once all of it has been read and its checksum compared."""
    for row in generations(directory):
        try:
            open_checkpoint(Path(row["file"]))
        except CheckpointError as error:
            row |= {"ok": False, "error": str(error)}
        yield row


def roll_back(directory: Path, seq: int) -> dict[str, Any]:
    """Make an older generation the newest, and describe it.

    Raises
    ------
    StateLockedError : a daemon runs. CheckpointError : it is not there, or does not verify.
    """
    store = CheckpointStore(directory)
    with store.lock():
        return _row(describe(store.roll_back(seq).path))


def _row(generation: Generation) -> dict[str, Any]:
    checkpoint = generation.checkpoint
    row: dict[str, Any] = {
        "file": str(generation.path),
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
            "positions": in_words(checkpoint.positions),
        }
    return row
