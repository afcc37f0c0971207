"""Pinned checkpoints: kept in addition to the regular ones, because of an event right after them."""

import os
from pathlib import Path

from streamlearn.checkpoint.local_files import checkpoint_files
from streamlearn.checkpoint.reading import system_errors

_PATTERN = "kept-before-*.slcp"
_COUNT = 5


def keep_newest(directory: Path, sequence: int) -> Path | None:
    """Pin the newest checkpoint as ``kept-before-SEQUENCE.slcp``, a hard link that takes no space at first.

    Only the last five are kept; retention does not affect them.

    Returns
    -------
    Its new path, or None if there is no checkpoint.

    Raises
    ------
    CheckpointError : it cannot be linked.
    """
    with system_errors(f"state directory {directory}"):
        newest = max(checkpoint_files(directory), default=None)
        if newest is None:
            return None
        kept = directory / _PATTERN.replace("*", f"{sequence:020d}")
        # After a crash the same event may occur again: the first link was to the checkpoint right before it.
        if not kept.exists():
            os.link(newest, kept)
        for old in sorted(directory.glob(_PATTERN))[:-_COUNT]:
            old.unlink()
    return kept
