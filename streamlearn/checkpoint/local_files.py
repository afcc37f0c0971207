"""Reading the checkpoints of a state directory, newest first, without changing anything in it."""

import errno
import re
from pathlib import Path

from streamlearn.checkpoint import codec, reading
from streamlearn.checkpoint.reading import CheckpointInfo, Loaded, system_errors
from streamlearn.errors import CheckpointError

_NAME = re.compile(r"checkpoint-(\d{20})\.slcp")


def open_checkpoint(path: Path) -> Loaded:
    """Read a checkpoint file, or the newest that verifies in a state directory.

    Needs no lock: a file never changes once it has its final name.

    Raises
    ------
    CheckpointError : there is no checkpoint, or none verifies.
    """
    with system_errors(str(path)):
        if not path.is_dir():
            return load_file(path)
        loaded, _ = find_newest(path)
    if loaded is None:
        raise CheckpointError(f"{path}: no checkpoint in this directory")
    return loaded


def describe(path: Path) -> CheckpointInfo:
    """Return the description of one checkpoint from its header; its arrays are not verified."""
    return reading.describe(lambda: path.open("rb"), str(path), seq_of(path))


def find_newest(directory: Path) -> tuple[Loaded | None, list[Path]]:
    """Return the newest checkpoint that verifies, and the newer files that are damaged.

    None only if there is no checkpoint at all, not even a damaged one.

    Raises
    ------
    CheckpointError : there are checkpoints and none verifies, or the newest intact one does not match its
        name or this release: falling back to an older one would silently undo it.
    """
    newest_first = [(seq_of(path), path) for path in reversed(checkpoint_files(directory))]
    set_aside = [str(path) for path in files_set_aside(directory, "corrupt")]
    return reading.find_newest(str(directory), newest_first, load_file, set_aside)


def load_file(path: Path) -> Loaded:
    """Read a checkpoint file whole and verify it.

    Raises
    ------
    CheckpointError : it does not verify. OSError : it cannot be opened.
    """
    try:
        with path.open("rb") as file:
            return reading.load(file, str(path))
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise codec.CorruptError(f"{path}: {error.strerror}: the disk cannot read the file") from error


def checkpoint_files(directory: Path) -> list[Path]:
    """Return the files with the name of a checkpoint, oldest first."""
    return sorted(path for path in directory.glob("checkpoint-*") if _NAME.fullmatch(path.name))


def files_set_aside(directory: Path, why: str) -> list[Path]:
    """Return the files that were set aside as "corrupt" or "undone" (by a rollback), oldest first."""
    return sorted(directory.glob(f"checkpoint-*.slcp.{why}"))


def path_of(directory: Path, seq: int) -> Path:
    """Return the path of a checkpoint; names sort like their numbers."""
    return directory / f"checkpoint-{seq:020d}.slcp"


def seq_of(path: Path) -> int:
    """Return the number in the name of a checkpoint file."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else -1
