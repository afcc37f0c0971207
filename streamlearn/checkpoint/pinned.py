"""Checkpoints that are kept beside the generations, because something happened after them."""

import os
from pathlib import Path

from streamlearn.checkpoint.local_files import generation_files
from streamlearn.checkpoint.reading import in_words

_PATTERN = "kept-before-*.slcp"
_COUNT = 5


def keep_newest(directory: Path, sequence: int) -> Path | None:
    """Keep the newest generation as ``kept-before-SEQUENCE.slcp``, at first a second name that costs no room.

    The oldest go when there are more than five; pruning generations does not touch them.

    Returns
    -------
    Its new name, or None where there is no generation.

    Raises
    ------
    CheckpointError : it cannot be linked.
    """
    with in_words(f"state directory {directory}"):
        newest = max(generation_files(directory), default=None)
        if newest is None:
            return None
        kept = directory / _PATTERN.replace("*", f"{sequence:020d}")
        # A crash may have brought us here before: what was kept then was of the moment before, too.
        if not kept.exists():
            os.link(newest, kept)
        for old in sorted(directory.glob(_PATTERN))[:-_COUNT]:
            old.unlink()
    return kept
