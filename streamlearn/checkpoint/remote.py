"""Checkpoints in an object store, listed in a manifest that one daemon at a time can change.

CURRENT, the manifest, is the object ``CURRENT/<number>`` with the highest number. It lists the checkpoints
and the owner of the state. Every change creates the next number, on the condition that it does not exist yet
(in S3: ``If-None-Match: *``). So of two daemons only one succeeds, and the other has lost the state: a daemon
that starts creates the next number, and from then on the previous daemon, even if it hangs and wakes up
later, cannot make its checkpoint the newest.

A checkpoint is an object with a unique name, written and verified before CURRENT lists it. An object that
CURRENT does not list is not a checkpoint, whatever its name.
"""

import contextlib
import os
import socket
import uuid
from collections.abc import Callable, Iterator
from functools import partial

from streamlearn.checkpoint import codec, reading
from streamlearn.checkpoint.manifest import (
    POINTERS,
    Entry,
    Manifest,
    is_checkpoint,
    is_pointer,
    new_name,
)
from streamlearn.checkpoint.objects import Objects
from streamlearn.checkpoint.reading import CheckpointInfo, Loaded
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Saved, encode_next
from streamlearn.errors import CheckpointError, ConfigError, StateLockedError

# The steps of `save`, announced just before each happens.
STEPS = ("write", "verify", "point", "prune", "done")

# Number of versions of CURRENT kept, for processes that are just reading one.
_POINTERS_KEPT = 3


class RemoteStore:
    """A `Store` whose checkpoints are the objects that CURRENT lists.

    Parameters
    ----------
    retention : which checkpoints to keep; `newest` is also the number of damaged ones kept for inspection.
    on_step : called with each of `STEPS`, so that tests can kill the process there.
    """

    def __init__(
        self,
        objects: Objects,
        retention: Retention = Retention(),  # noqa: B008 - it is frozen
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._objects = objects
        self._retention = retention
        self._on_step = on_step
        # Empty while this store does not hold the state.
        self._owner = ""
        self._current = Manifest()
        # Objects written by this daemon or before it; those that CURRENT does not list are deleted.
        self._known: set[str] = set()
        self._keep: dict[str, int] = {}

    @property
    def location(self) -> str:
        """Its URL."""
        return self._objects.url

    def make(self) -> None:
        """Do nothing: prefixes need not be created, and buckets are created by their administrators."""

    def probe(self) -> str:
        """Return which daemon held the state last; whether it still runs cannot be known.

        Raises
        ------
        CheckpointError : the state cannot be read or written. ConfigError : see `lock`.
        """
        self._require_conditions()
        current = self._look()
        last = f"last held by {current.holder} (CURRENT {current.number})" if current else "empty"
        return f"writable, {last}"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Take over the state from its current holder.

        Raises
        ------
        StateLockedError : another daemon took it over, or saved, at the same time.
        CheckpointError : it cannot be read or written, or there are checkpoints without CURRENT.
        ConfigError : the store ignores conditional writes: two daemons could overwrite each other's state.
        """
        self._require_conditions()
        # Listed before taking over: later objects may belong to a successor.
        there = {name for name in self._objects.names() if is_checkpoint(name)}
        current = self._look()
        if current is None and there:
            raise CheckpointError(
                f"{self.location}: {len(there)} checkpoints but no {POINTERS}; restore it from a backup, or "
                "empty the prefix to start from zero"
            )
        self._current = current or Manifest()
        self._known = there | self._current.names
        self._owner = uuid.uuid4().hex
        try:
            holder = f"pid {os.getpid()} on {socket.gethostname()}"
            self._move(lambda current: current.taken(self._owner, holder))
            yield
        finally:
            self._owner = ""

    def load_newest(self) -> Loaded | None:
        """Read the newest checkpoint that verifies, and set newer ones aside; see `Store`."""
        self._require_lock()
        loaded, damaged = self._find_newest(self._current)
        if damaged:
            self._move(lambda current: current.without(damaged))
        return loaded

    def newest(self) -> Loaded | None:
        """Do the same without holding the state and without changing anything."""
        current = self._look()
        return self._find_newest(current)[0] if current else None

    def roll_back(self, seq: int) -> CheckpointInfo:
        """Make an older checkpoint the newest; see `Store`. A running daemon loses the state."""
        self._require_lock()
        target = next((entry for entry in self._current.checkpoints if entry.seq == seq), None)
        if target is None:
            raise CheckpointError(f"{self.location}: there is no checkpoint {seq}")
        self._load(target.name)
        self._move(lambda current: current.rolled_back(seq))
        return self._describe(target)

    def save(self, checkpoint: Checkpoint) -> Saved:
        """Make `checkpoint` the newest checkpoint; see `Store`.

        Raises
        ------
        NonFiniteWeightsError : a weight of the model is not finite.
        StateLockedError : another daemon has taken over the state; this one must stop.
        CheckpointError : the store does not answer, or returns an error.
        """
        self._require_lock()
        newest = self._current.checkpoints[-1:]
        encoded = encode_next(checkpoint, newest[0].seq if newest else -1)
        name = new_name(checkpoint.seq)
        self._known.add(name)
        self._write(name, encoded)
        self._on_step("point")
        # A background thread may have outlived the lock.
        self._require_lock()
        keep = dict(self._keep)
        self._move(lambda current: current.saved(name, checkpoint.created_unix, self._retention, keep))
        for kept in keep:
            del self._keep[kept]
        self._prune()
        self._on_step("done")
        return Saved(self._objects.where(name), encoded.size_bytes)

    def keep_newest(self, sequence: int) -> str | None:
        """Pin the newest checkpoint when the next one is saved; see `Store`.

        So learning need not wait for the network. After a crash before that, nothing is missing: the event at
        `sequence` will occur again.
        """
        newest = self._current.checkpoints[-1:]
        if not newest:
            return None
        self._keep.setdefault(newest[0].name, sequence)
        return self._objects.where(newest[0].name)

    def checkpoints(self) -> list[CheckpointInfo]:
        """Describe every checkpoint, oldest first, from its header alone."""
        current = self._look()
        return [self._describe(entry) for entry in current.checkpoints] if current else []

    def free_bytes(self) -> None:
        """Return None: the free space of an object store is unknown."""

    def _look(self) -> Manifest | None:
        """Read the highest number; None if there is none."""
        pointers = self._pointers()
        if not pointers:
            return None
        return Manifest.from_bytes(self._objects.read(pointers[-1]), self._objects.where(pointers[-1]))

    def _pointers(self) -> list[str]:
        return [name for name in self._objects.names(POINTERS) if is_pointer(name)]

    def _move(self, change: Callable[[Manifest], Manifest]) -> None:
        """Create the next number, and verify that it is the highest and ours."""
        while True:
            wanted = change(self._current)
            failure: CheckpointError | None = None
            try:
                self._objects.create(wanted.pointer, wanted.to_bytes())
            except CheckpointError as error:
                # The write may have succeeded, with only its answer lost.
                failure = error
            found = self._look()
            if found == wanted:
                self._current = wanted
                return
            if found is None or found.number <= self._current.number:
                raise failure or CheckpointError(
                    f"{self._objects.where(wanted.pointer)}: was written but cannot be read"
                )
            if found.owner != self._owner:
                raise StateLockedError(
                    f"{self.location}: was taken over by {found.holder} (CURRENT {found.number}); what this "
                    "daemon learned since its last checkpoint is discarded"
                )
            # An earlier write of ours succeeded although it was reported as failed.
            self._current = found

    def _require_conditions(self) -> None:
        """Check that the store supports conditional writes; some S3-compatible ones ignore the condition."""
        name = f"probe-{uuid.uuid4().hex}"
        self._objects.create(name, b"")
        replaced = self._objects.create(name, b"")
        self._objects.delete(name)
        if replaced:
            raise ConfigError(
                f"{self.location}: this store ignores conditional writes (If-None-Match), so that two "
                "daemons could overwrite each other's state; wanted a store that supports them"
            )

    def _require_lock(self) -> None:
        if not self._owner:
            raise CheckpointError(f"{self.location} is not held by this store")

    def _write(self, name: str, encoded: codec.EncodedState) -> None:
        with self._objects.open_new(name) as file:
            for chunk in encoded:
                self._on_step("write")
                file.write(chunk)
        self._on_step("verify")
        # Verifies the size, the header and the stored checksum. The data in between is protected by the
        # transport, and verified whenever the checkpoint is loaded.
        with self._objects.open(name) as file:
            size_bytes = codec.read_header(file).size_bytes
            file.seek(size_bytes - len(chunk))
            if size_bytes != encoded.size_bytes or file.read() != chunk:
                raise CheckpointError(f"{self._objects.where(name)}: differs from what was written")

    def _prune(self) -> None:
        # The new checkpoint is durable; that an old one cannot be deleted does not make it a failure.
        with contextlib.suppress(CheckpointError):
            self._on_step("prune")
            for pointer in self._pointers()[:-_POINTERS_KEPT]:
                self._objects.delete(pointer)
            for name in sorted(self._known - self._current.names):
                self._objects.delete(name)
                self._known.discard(name)

    def _find_newest(self, current: Manifest) -> tuple[Loaded | None, list[str]]:
        newest_first = [(entry.seq, entry.name) for entry in reversed(current.checkpoints)]
        set_aside = [
            self._objects.where(entry.name) for entry in current.entries if entry.set_aside == "corrupt"
        ]
        return reading.find_newest(self.location, newest_first, self._load, set_aside)

    def _load(self, name: str) -> Loaded:
        with self._objects.open(name) as file:
            return reading.load(file, self._objects.where(name))

    def _describe(self, entry: Entry) -> CheckpointInfo:
        where = self._objects.where(entry.name)
        return reading.describe(partial(self._objects.open, entry.name), where, entry.seq)
