"""Reading one checkpoint from a file or object, and finding the newest that verifies."""

import contextlib
import dataclasses
import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import numpy as np

from streamlearn.checkpoint import codec
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.errors import CheckpointError

_ALIGNMENT = 64
# Size of one request to an object store.
_CHUNK_BYTES = 64 << 20

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A verified checkpoint; its arrays are writable and share one buffer.

    `corrupt` counts the newer ones that did not verify.
    """

    checkpoint: Checkpoint
    where: str
    size_bytes: int
    corrupt: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """Description of a checkpoint; `checkpoint` has no arrays, or is None with the reason in `error`."""

    where: str
    seq: int
    size_bytes: int
    checkpoint: Checkpoint | None
    error: str = ""


def load(file: BinaryIO, where: str) -> Loaded:
    """Read a whole checkpoint and verify it; `where` begins error messages.

    Raises
    ------
    CorruptError, FormatVersionError, CheckpointError
    """
    try:
        buffer = _read(file)
        checkpoint = Checkpoint.from_state(codec.decode(buffer.data))
    except CheckpointError as error:
        raise type(error)(f"{where}: {error}") from error
    return Loaded(checkpoint, where, buffer.nbytes)


def describe(
    open_file: Callable[[], AbstractContextManager[BinaryIO]], where: str, seq: int
) -> CheckpointInfo:
    """Return the description of a checkpoint from its header; its arrays are not verified."""
    size_bytes, checkpoint, message = 0, None, ""
    try:
        with system_errors(where), open_file() as file:
            header = codec.read_header(file)
        size_bytes = header.size_bytes
        checkpoint = Checkpoint.from_header(header)
    except CheckpointError as error:
        message = str(error)
    return CheckpointInfo(where, seq, size_bytes, checkpoint, message)


def find_newest(
    location: str,
    newest_first: Sequence[tuple[int, Name]],
    load_one: Callable[[Name], Loaded],
    set_aside: Sequence[str],
) -> tuple[Loaded | None, list[Name]]:
    """Return the newest checkpoint that verifies, and the newer ones that are damaged.

    Parameters
    ----------
    newest_first : number and name of each checkpoint.
    set_aside : those that were found damaged earlier.

    Returns
    -------
    None only if there is no checkpoint at all, not even a damaged one.

    Raises
    ------
    CheckpointError : there are checkpoints and none verifies, or the newest intact one does not match its
        name or this release: falling back to an older one would silently undo it.
    """
    damaged: dict[Name, str] = {}
    for seq, name in newest_first:
        try:
            loaded = load_one(name)
        except codec.CorruptError as error:
            damaged[name] = str(error)
            continue
        if loaded.checkpoint.seq != seq:
            raise CheckpointError(
                f"{loaded.where}: contains checkpoint {loaded.checkpoint.seq}; rename it back"
            )
        return dataclasses.replace(loaded, corrupt=len(damaged)), list(damaged)
    reasons = list(damaged.values()) or list(set_aside)
    if reasons:
        raise CheckpointError(
            f"{location}: {len(reasons)} checkpoints, but none verifies; restore one from a backup, or empty "
            f"this location to start from zero; newest: {reasons[0]}"
        )
    return None, []


@contextlib.contextmanager
def system_errors(where: str) -> Iterator[None]:
    """Convert an OSError into a CheckpointError with the system's message."""
    try:
        yield
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, type(error).__name__)
        raise CheckpointError(f"{where}: {error.strerror or error} ({name})") from error


def _read(file: BinaryIO) -> np.ndarray[Any, np.dtype[np.uint8]]:
    size_bytes = file.seek(0, 2)
    file.seek(0)
    codec.check_layout(file.read(codec.HEADER_START), size_bytes)
    file.seek(0)
    # Read, not memory-mapped, so that the verified data cannot change with the file or its disk.
    room = np.empty(size_bytes + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    buffer = room[start : start + size_bytes]
    got_bytes = 0
    while part := file.readinto(buffer[got_bytes : got_bytes + _CHUNK_BYTES].data):  # type: ignore[attr-defined]
        got_bytes += part
    if got_bytes != size_bytes:
        raise codec.CorruptError(f"{got_bytes} bytes read, wanted {size_bytes}")
    return buffer
