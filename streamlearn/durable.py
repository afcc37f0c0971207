"""What a write needs, besides fsync of the file, to survive a power cut."""

import os
from pathlib import Path


def sync_directory(directory: Path) -> None:
    """Make changes of a directory durable: files that were created, renamed or removed in it.

    Raises
    ------
    OSError : the disk fails.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
