"""Reading what a state directory holds, newest first, without changing anything in it."""

import contextlib
import dataclasses
import errno
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamlearn.checkpoint import codec
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.errors import CheckpointError

_NAME = re.compile(r"checkpoint-(\d{20})\.slcp")
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint that verified; its arrays are writable and share one buffer.

    `corrupt` counts the newer ones that did not verify.
    """

    checkpoint: Checkpoint
    path: Path
    size_bytes: int
    corrupt: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """One file of a state directory; `checkpoint` without its arrays, or None and why in `error`."""

    path: Path
    seq: int
    size_bytes: int
    checkpoint: Checkpoint | None
    error: str = ""


def open_checkpoint(path: Path) -> Loaded:
    """Read a checkpoint file, or the newest that verifies in a state directory.

    Needs no lock: a file never changes once it has its name.

    Raises
    ------
    CheckpointError : nothing there, or nothing that verifies.
    """
    with in_words(str(path)):
        if not path.is_dir():
            return _load(path)
        loaded, _ = find_newest(path)
    if loaded is None:
        raise CheckpointError(f"{path}: no checkpoint in this directory")
    return loaded


def describe(path: Path) -> Generation:
    """Tell what the file of one generation is from its header alone; its arrays are not verified."""
    size_bytes, checkpoint, message = 0, None, ""
    try:
        with in_words(str(path)), path.open("rb") as file:
            header = codec.read_header(file)
        size_bytes = header.size_bytes
        checkpoint = Checkpoint.from_header(header)
    except CheckpointError as error:
        message = str(error)
    return Generation(path, seq_of(path), size_bytes, checkpoint, message)


def find_newest(directory: Path) -> tuple[Loaded | None, list[Path]]:
    """Give the newest checkpoint that verifies, and the newer files that are damaged.

    None only where there is no checkpoint at all, not even a damaged one.

    Raises
    ------
    CheckpointError : there are checkpoints and none verifies, or the newest intact one is not what its
        name or this release says: an older one would silently undo it.
    """
    damaged: dict[Path, str] = {}
    for path in reversed(generation_files(directory)):
        try:
            loaded = _load(path)
        except codec.CorruptError as error:
            damaged[path] = str(error)
            continue
        if loaded.checkpoint.seq != seq_of(path):
            raise CheckpointError(f"{path}: holds checkpoint {loaded.checkpoint.seq}; restore its name")
        return dataclasses.replace(loaded, corrupt=len(damaged)), list(damaged)
    reasons = list(damaged.values()) or [str(path) for path in files_set_aside(directory, "corrupt")]
    if reasons:
        raise CheckpointError(
            f"{directory}: {len(reasons)} checkpoints, none verifies; restore one, or empty the directory to "
            f"start from zero; newest: {reasons[0]}"
        )
    return None, []


def generation_files(directory: Path) -> list[Path]:
    """Give the files that bear the name of a checkpoint, oldest first."""
    return sorted(path for path in directory.glob("checkpoint-*") if _NAME.fullmatch(path.name))


def files_set_aside(directory: Path, why: str) -> list[Path]:
    """Give the files that were found corrupt, or that a rollback has undone, oldest first."""
    return sorted(directory.glob(f"checkpoint-*.slcp.{why}"))


def path_of(directory: Path, seq: int) -> Path:
    """Give the file name of a checkpoint; names sort like their numbers."""
    return directory / f"checkpoint-{seq:020d}.slcp"


def seq_of(path: Path) -> int:
    """Give the number in the name of a checkpoint file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else -1


@contextlib.contextmanager
def in_words(where: str) -> Iterator[None]:
    """Turn an OSError into a CheckpointError that says what the system said."""
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, type(error).__name__)
        raise CheckpointError(f"{where}: {error.strerror or error} ({name})") from error


def _load(path: Path) -> Loaded:
    try:
        with path.open("rb") as file:
            buffer = _read(file)
        checkpoint = Checkpoint.from_state(codec.decode(buffer.data))
    except CheckpointError as error:
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise codec.CorruptError(f"{path}: {error.strerror}: the disk cannot read it") from error
    return Loaded(checkpoint, path, buffer.nbytes)


def _read(file: io.BufferedReader) -> np.ndarray[Any, np.dtype[np.uint8]]:
    size_bytes = file.seek(0, 2)
    file.seek(0)
    codec.check_layout(file.read(codec.HEADER_START), size_bytes)
    file.seek(0)
    # Read, not mapped: what was verified stays what is used, whatever happens to the file or its disk.
    room = np.empty(size_bytes + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    buffer = room[start : start + size_bytes]
    got_bytes = file.readinto(buffer.data)
    if got_bytes != size_bytes:
        raise codec.CorruptError(f"{got_bytes} bytes read, wanted {size_bytes}")
    return buffer
