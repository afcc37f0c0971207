"""Pinned checkpoints: kept in addition to the regular ones, because of an event right after them."""

import os
from pathlib import Path

from streamlearn.checkpoint.local_files import generation_files
from streamlearn.checkpoint.reading import in_words

_PATTERN = "kept-before-*.slcp"
_COUNT = 5


def keep_newest(directory: Path, sequence: int) -> Path | None:
    """Pin the newest generation as ``kept-before-SEQUENCE.slcp``, a hard link that takes no space at first.

    Only the last five are kept; retention does not affect them.

    Returns
    -------
    Its new path, or None if there is no generation.

    Raises
    ------
    CheckpointError : it cannot be linked.
    """
    with in_words(f"state directory {directory}"):
        newest = max(generation_files(directory), default=None)
        if newest is None:
            return None
        kept = directory / _PATTERN.replace("*", f"{sequence:020d}")
        # After a crash the same event may occur again: the first link was to the checkpoint right before it.
        if not kept.exists():
            os.link(newest, kept)
        for old in sorted(directory.glob(_PATTERN))[:-_COUNT]:
            old.unlink()
    return kept
