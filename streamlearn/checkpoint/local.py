"""Checkpoint files in a local directory that survive crashes and disk errors."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from streamlearn.checkpoint import codec, pinned
from streamlearn.checkpoint.local_files import (
    checkpoint_files,
    describe,
    files_set_aside,
    find_newest,
    open_checkpoint,
    path_of,
    seq_of,
)
from streamlearn.checkpoint.lock import lock_directory
from streamlearn.checkpoint.reading import CheckpointInfo, Loaded, system_errors
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Saved, encode_next
from streamlearn.durable import sync_directory
from streamlearn.errors import CheckpointError

# The steps of `save`, announced just before each happens; "write" before every chunk.
STEPS = ("check", "create", "write", "fsync", "replace", "fsync_directory", "prune", "done")

_FREE_FACTOR = 2


class CheckpointStore:
    """A `Store` in one directory: a file per checkpoint, written under a lock.

    Parameters
    ----------
    directory : created by `make`; everything else requires it to exist.
    retention : which checkpoints to keep; `newest` is also the number of damaged ones kept for inspection.
    on_step : called with each of `STEPS`, so that tests can kill the process there or let the disk fail.
    """

    def __init__(
        self,
        directory: Path,
        retention: Retention = Retention(),  # noqa: B008 - it is frozen
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._directory = directory
        self._retention = retention
        self._on_step = on_step
        self._locked = False
        self._newest_seq = -1
        # When each checkpoint was written, so that no header is read twice.
        self._created: dict[int, float] = {}

    @property
    def location(self) -> str:
        """The path of the directory."""
        return str(self._directory)

    def make(self) -> None:
        """Create the directory and its parents."""
        with system_errors(f"state directory {self._directory}"):
            self._directory.mkdir(parents=True, exist_ok=True)

    def probe(self) -> str:
        """Return whether a daemon could lock the directory now; a missing one is not created.

        Raises
        ------
        StateLockedError : another daemon holds the lock; names it.
        CheckpointError : the directory cannot be created or written.
        """
        if self._directory.is_dir():
            with lock_directory(self._directory):
                return "writable, not locked by a daemon"
        parent = next(parent for parent in self._directory.absolute().parents if parent.exists())
        if parent.is_dir() and os.access(parent, os.W_OK):
            return "will be created"
        raise CheckpointError(f"{self._directory}: does not exist, and cannot be created in {parent}")

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the directory, as `load_newest`, `roll_back` and `save` require.

        Raises
        ------
        StateLockedError : another daemon holds the lock; names it.
        CheckpointError : the directory is missing or cannot be written.
        """
        with lock_directory(self._directory):
            self._locked = True
            self._newest_seq = max(map(seq_of, checkpoint_files(self._directory)), default=-1)
            try:
                yield
            finally:
                self._locked = False

    def load_newest(self) -> Loaded | None:
        """Read the newest checkpoint that verifies; None only if there has never been one.

        Newer ones that do not verify are renamed to `*.corrupt`; temporary files left by a crash are removed.

        Raises
        ------
        CheckpointError : there are checkpoints and none verifies, or the newest is intact but of another
            release. Continuing would silently start from zero, or undo what that release has learned.
        """
        self._require_lock()
        with system_errors(f"state directory {self._directory}"):
            for path in self._directory.glob("checkpoint-*.slcp.tmp"):
                path.unlink()
            loaded, damaged = find_newest(self._directory)
            # Renamed only if another one verifies; otherwise everything stays as it was found.
            for path in damaged:
                path.replace(path.with_name(f"{path.name}.corrupt"))
        if loaded:
            self._newest_seq = loaded.checkpoint.seq
        return loaded

    def newest(self) -> Loaded | None:
        """Do the same without the lock and without changing anything."""
        with system_errors(f"state directory {self._directory}"):
            return find_newest(self._directory)[0]

    def roll_back(self, seq: int) -> CheckpointInfo:
        """Make an older checkpoint the newest; those after it are renamed to `*.undone`.

        Weights and positions go back together, so that the records since then are learned again.

        Raises
        ------
        CheckpointError : it does not exist, or does not verify; nothing was changed.
        """
        self._require_lock()
        with system_errors(f"state directory {self._directory}"):
            target = path_of(self._directory, seq)
            open_checkpoint(target)
            # The newest first, so that after a crash in between, the remaining ones are still consecutive.
            for path in reversed(checkpoint_files(self._directory)):
                if seq_of(path) > seq:
                    path.replace(path.with_name(f"{path.name}.undone"))
            sync_directory(self._directory)
        self._newest_seq = seq
        return describe(target)

    def save(self, checkpoint: Checkpoint) -> Saved:
        """Make `checkpoint` the newest checkpoint; when this returns, it survives a power failure.

        If killed at any point, `load_newest` returns this one or the one before, complete.

        Raises
        ------
        NonFiniteWeightsError : a weight of the model is not finite.
        CheckpointError : disk full, failing or read-only, less free space than twice the size, seq not above
            the newest, or a state that cannot be encoded. Older checkpoints are unchanged.
        """
        self._require_lock()
        path = path_of(self._directory, checkpoint.seq)
        with system_errors(f"{path}: not written, older checkpoints are kept"):
            self._on_step("check")
            encoded = encode_next(checkpoint, self._newest_seq)
            self._require_space(encoded.size_bytes)
            self._write_atomically(path, encoded)
        self._newest_seq = checkpoint.seq
        self._created[checkpoint.seq] = checkpoint.created_unix
        self._prune()
        self._on_step("done")
        return Saved(str(path), encoded.size_bytes)

    def checkpoints(self) -> list[CheckpointInfo]:
        """Describe every checkpoint, oldest first, from its header alone; needs no lock."""
        return [describe(path) for path in checkpoint_files(self._directory)]

    def keep_newest(self, sequence: int) -> str | None:
        """Keep the newest checkpoint under a second name; see `pinned`."""
        kept = pinned.keep_newest(self._directory, sequence)
        return str(kept) if kept else None

    def free_bytes(self) -> int | None:
        """Return the disk space available to this process; None if unknown."""
        with contextlib.suppress(OSError):
            return _free_bytes(self._directory)
        return None

    def _require_lock(self) -> None:
        if not self._locked:
            raise CheckpointError(f"state directory {self._directory} is not locked by this store")

    def _require_space(self, size_bytes: int) -> None:
        free_bytes = _free_bytes(self._directory)
        if free_bytes < _FREE_FACTOR * size_bytes:
            message = (
                f"{free_bytes} bytes free, wanted {_FREE_FACTOR} times its {size_bytes}; free some space"
            )
            raise OSError(errno.ENOSPC, message)

    def _write_atomically(self, path: Path, encoded: codec.EncodedState) -> None:
        temporary = path.with_name(f"{path.name}.tmp")
        try:
            self._on_step("create")
            with temporary.open("wb") as file:
                for chunk in encoded:
                    self._on_step("write")
                    file.write(chunk)
                file.flush()
                self._on_step("fsync")
                os.fsync(file.fileno())
            self._on_step("replace")
            # A background thread may have outlived the lock.
            self._require_lock()
            temporary.replace(path)
            self._on_step("fsync_directory")
            sync_directory(self._directory)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _prune(self) -> None:
        # The new checkpoint is durable. That an old one cannot be removed does not make it a failure, and
        # shows in the free space.
        with contextlib.suppress(OSError):
            self._on_step("prune")
            files = {seq_of(path): path for path in checkpoint_files(self._directory)}
            self._created = {seq: self._created_unix(seq, path) for seq, path in files.items()}
            stale = [files[seq] for seq in files.keys() - self._retention.kept(self._created)]
            for suffix in ("corrupt", "undone"):
                stale += files_set_aside(self._directory, suffix)[: -self._retention.newest]
            for path in sorted(stale):
                path.unlink()

    def _created_unix(self, seq: int, path: Path) -> float:
        if seq not in self._created:
            checkpoint = describe(path).checkpoint
            return checkpoint.created_unix if checkpoint else 0.0
        return self._created[seq]


def _free_bytes(directory: Path) -> int:
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize
