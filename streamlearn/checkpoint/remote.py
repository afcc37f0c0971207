"""Checkpoints in an object store, behind a pointer that one daemon at a time can move.

CURRENT is the object ``CURRENT/<number>`` with the highest number. It names the generations and the owner
of the state; whoever changes anything creates the next number, on the condition that there is none (in S3:
``If-None-Match: *``). So of two daemons one creates it, and the other has lost the state: a daemon that
starts takes the next number, and from then on the one before, wherever it hangs, can make no checkpoint the
newest.

A checkpoint is an object of a name that was never used before, written and looked at again before CURRENT
names it. What CURRENT does not name is no checkpoint, however it looks.
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
    Current,
    Entry,
    is_checkpoint,
    is_pointer,
    new_name,
)
from streamlearn.checkpoint.objects import Objects
from streamlearn.checkpoint.reading import Generation, Loaded
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.store import Saved, encode_next
from streamlearn.errors import CheckpointError, ConfigError, StateLockedError

# What `save` announces, each just before it happens.
STEPS = ("write", "verify", "point", "prune", "done")

# So many of the last numbers stay, for those who are just reading one.
_POINTERS_KEPT = 3


class RemoteStore:
    """A `Store` whose generations are the objects that CURRENT names.

    Parameters
    ----------
    retention : which generations stay; as many damaged ones as newest ones stay for a look at them.
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
        self._current = Current()
        # Objects written by us or before us; what CURRENT does not name of them goes.
        self._known: set[str] = set()
        self._keep: dict[str, int] = {}

    @property
    def location(self) -> str:
        """Its URL."""
        return self._objects.url

    def make(self) -> None:
        """Do nothing: a prefix needs no making, and a bucket is not ours to make."""

    def probe(self) -> str:
        """Return who has held it last; nobody can tell whether that daemon still runs.

        Raises
        ------
        CheckpointError : it cannot be read or written. ConfigError : see `lock`.
        """
        self._require_conditions()
        current = self._look()
        last = f"taken last by {current.holder} (CURRENT {current.number})" if current else "is empty"
        return f"can be written, {last}"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Take the state over from whoever holds it.

        Raises
        ------
        StateLockedError : another daemon took it, or saved, at this very moment.
        CheckpointError : it cannot be read or written, or there are checkpoints without CURRENT.
        ConfigError : the store replaces objects that it was told to create: nothing would be fenced.
        """
        self._require_conditions()
        # Listed before it is taken: of what comes later, some may be a successor's.
        there = {name for name in self._objects.names() if is_checkpoint(name)}
        current = self._look()
        if current is None and there:
            raise CheckpointError(
                f"{self.location}: {len(there)} checkpoints and no {POINTERS}; restore it, or empty the "
                "prefix to start from zero"
            )
        self._current = current or Current()
        self._known = there | self._current.names
        self._owner = uuid.uuid4().hex
        try:
            holder = f"pid {os.getpid()} on {socket.gethostname()}"
            self._move(lambda current: current.taken(self._owner, holder))
            yield
        finally:
            self._owner = ""

    def load_newest(self) -> Loaded | None:
        """Read the newest generation that verifies, and set newer ones aside; see `Store`."""
        self._require_lock()
        loaded, damaged = self._find_newest(self._current)
        if damaged:
            self._move(lambda current: current.without(damaged))
        return loaded

    def newest(self) -> Loaded | None:
        """Do the same without holding the state and without changing anything."""
        current = self._look()
        return self._find_newest(current)[0] if current else None

    def roll_back(self, seq: int) -> Generation:
        """Make an older generation the newest; see `Store`. A daemon that runs is fenced."""
        self._require_lock()
        target = next((entry for entry in self._current.generations if entry.seq == seq), None)
        if target is None:
            raise CheckpointError(f"{self.location}: there is no checkpoint {seq}")
        self._load(target.name)
        self._move(lambda current: current.rolled_back(seq))
        return self._describe(target)

    def save(self, checkpoint: Checkpoint) -> Saved:
        """Make `checkpoint` the newest generation; see `Store`.

        Raises
        ------
        NonFiniteWeightsError : a weight of the model is not finite.
        StateLockedError : another daemon has taken the state over; this one must stop.
        CheckpointError : the store does not answer or refuses.
        """
        self._require_lock()
        newest = self._current.generations[-1:]
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
        """Have the newest generation kept from retention, once the next one is saved; see `Store`.

        Learning does not wait for the network. A crash before that costs nothing: whatever happened at
        `sequence` happens again.
        """
        newest = self._current.generations[-1:]
        if not newest:
            return None
        self._keep.setdefault(newest[0].name, sequence)
        return self._objects.where(newest[0].name)

    def generations(self) -> list[Generation]:
        """Describe every generation, oldest first, from its header alone."""
        current = self._look()
        return [self._describe(entry) for entry in current.generations] if current else []

    def free_bytes(self) -> None:
        """Return nothing: nobody knows."""

    def _look(self) -> Current | None:
        """Read the highest number; None where there is none."""
        pointers = self._pointers()
        if not pointers:
            return None
        return Current.from_bytes(self._objects.read(pointers[-1]), self._objects.where(pointers[-1]))

    def _pointers(self) -> list[str]:
        return [name for name in self._objects.names(POINTERS) if is_pointer(name)]

    def _move(self, change: Callable[[Current], Current]) -> None:
        """Create the next number, and make sure that it is the highest and ours."""
        while True:
            wanted = change(self._current)
            failure: CheckpointError | None = None
            try:
                self._objects.create(wanted.pointer, wanted.to_bytes())
            except CheckpointError as error:
                # Its answer may have been lost, not the write.
                failure = error
            found = self._look()
            if found == wanted:
                self._current = wanted
                return
            if found is None or found.number <= self._current.number:
                raise failure or CheckpointError(f"{self._objects.where(wanted.pointer)}: is not to be seen")
            if found.owner != self._owner:
                raise StateLockedError(
                    f"{self.location}: was taken over by {found.holder} (CURRENT {found.number}); what was "
                    "learned here since the last checkpoint does not count"
                )
            # We wrote it and took it for failed.
            self._current = found

    def _require_conditions(self) -> None:
        """Refuse a store that ignores the condition, as some that call themselves compatible do."""
        name = f"probe-{uuid.uuid4().hex}"
        self._objects.create(name, b"")
        replaced = self._objects.create(name, b"")
        self._objects.delete(name)
        if replaced:
            raise ConfigError(
                f"{self.location}: this store replaces objects that it was told to create only, so that it "
                "cannot tell two daemons apart; wanted one with conditional writes (If-None-Match)"
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
        # Size, header and the checksum of all; what lies between is the transport's to protect, and is
        # compared whenever the checkpoint is loaded.
        with self._objects.open(name) as file:
            size_bytes = codec.read_header(file).size_bytes
            file.seek(size_bytes - len(chunk))
            if size_bytes != encoded.size_bytes or file.read() != chunk:
                raise CheckpointError(f"{self._objects.where(name)}: is not what was written")

    def _prune(self) -> None:
        # The new checkpoint is durable: an old one that cannot be removed is no failure of it.
        with contextlib.suppress(CheckpointError):
            self._on_step("prune")
            for pointer in self._pointers()[:-_POINTERS_KEPT]:
                self._objects.delete(pointer)
            for name in sorted(self._known - self._current.names):
                self._objects.delete(name)
                self._known.discard(name)

    def _find_newest(self, current: Current) -> tuple[Loaded | None, list[str]]:
        newest_first = [(entry.seq, entry.name) for entry in reversed(current.generations)]
        set_aside = [
            self._objects.where(entry.name) for entry in current.entries if entry.set_aside == "corrupt"
        ]
        return reading.find_newest(self.location, newest_first, self._load, set_aside)

    def _load(self, name: str) -> Loaded:
        with self._objects.open(name) as file:
            return reading.load(file, self._objects.where(name))

    def _describe(self, entry: Entry) -> Generation:
        where = self._objects.where(entry.name)
        return reading.describe(partial(self._objects.open, entry.name), where, entry.seq)
