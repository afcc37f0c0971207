"""What it takes, beside fsync of a file, for a write to survive a power cut."""

import os
from pathlib import Path


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable: files that were made, renamed or removed there.

    Raises
    ------
    OSError : the disk fails.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
