"""Locking a state directory for one daemon; after a crash the kernel releases the lock."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from streamlearn.errors import CheckpointError, StateLockedError

LOCK_NAME = "LOCK"


@contextlib.contextmanager
def lock_directory(directory: Path) -> Iterator[None]:
    """Lock `directory` exclusively while the context is open.

    The lock file is never removed: otherwise one daemon could lock the old file and another one a new file.

    Raises
    ------
    StateLockedError : another process (or another store in this one) holds the lock; names the holder.
    CheckpointError : the directory does not exist or cannot be written.
    """
    path = directory / LOCK_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise CheckpointError(
            f"state directory {directory}: {LOCK_NAME}: {error.strerror}; it must exist and be writable"
        ) from error
    try:
        _acquire(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
        raise StateLockedError(
            f"state directory {directory} is held by {holder or 'another process'}; stop it first"
        ) from error
    except OSError as error:
        raise CheckpointError(f"state directory {directory}: cannot lock: {error.strerror}") from error
    # Only for the message above: a full disk must not prevent locking.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
