"""The protocol of checkpoint stores, local and remote."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from streamlearn.checkpoint import codec
from streamlearn.checkpoint.finite import assert_finite
from streamlearn.checkpoint.reading import CheckpointInfo, Loaded
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.errors import CheckpointError


class Saved(NamedTuple):
    """A checkpoint that was written durably."""

    where: str
    size_bytes: int


class Store(Protocol):
    """The checkpoints of one state; `load_newest`, `roll_back` and `save` require its lock.

    Every method raises CheckpointError if the location cannot be read or written.
    """

    @property
    def location(self) -> str:
        """The directory or URL, as in the configuration."""

    def make(self) -> None:
        """Create the location if it does not exist and can be created."""

    def probe(self) -> str:
        """Return one line about whether a daemon could lock it now; changes nothing.

        Raises
        ------
        StateLockedError : another daemon holds the lock.
        """

    def lock(self) -> AbstractContextManager[None]:
        """Lock the state.

        Raises
        ------
        StateLockedError : another daemon holds the lock, or took it at the same time.
        """

    def load_newest(self) -> Loaded | None:
        """Read the newest checkpoint that verifies, and set newer ones that do not aside.

        None only if there has never been one.

        Raises
        ------
        CheckpointError : there are checkpoints and none verifies, or the newest is intact but of another
            release. Continuing would silently start from zero, or undo what that release has learned.
        """

    def newest(self) -> Loaded | None:
        """Do the same without the lock and without changing anything."""

    def save(self, checkpoint: Checkpoint) -> Saved:
        """Make `checkpoint` the newest checkpoint; when this returns, it survives a power failure.

        If killed at any point, `load_newest` returns this one or the one before, complete.

        Raises
        ------
        NonFiniteWeightsError : a weight of the model is not finite.
        StateLockedError : another daemon has taken over the state; this one must stop.
        CheckpointError : it was not written; older checkpoints are unchanged.
        """

    def roll_back(self, seq: int) -> CheckpointInfo:
        """Make an older checkpoint the newest; those after it are set aside.

        Weights and positions go back together, so that the records since then are learned again.

        Raises
        ------
        CheckpointError : it does not exist, or does not verify; nothing was changed.
        """

    def keep_newest(self, sequence: int) -> str | None:
        """Pin the newest checkpoint, which exempts it from retention, because of an event at `sequence`.

        At most five are pinned. Returns where it is, or will be once the next one is saved; None if there is
        no checkpoint.
        """

    def checkpoints(self) -> list[CheckpointInfo]:
        """Describe every checkpoint, oldest first, from its header alone; needs no lock."""

    def free_bytes(self) -> int | None:
        """Return the free space; None if unknown. Never raises."""


def encode_next(checkpoint: Checkpoint, newest_seq: int) -> codec.EncodedState:
    """Return the encoded checkpoint, which must come after number `newest_seq`.

    Raises
    ------
    NonFiniteWeightsError : a weight of the model is not finite.
    CheckpointError : its number is not higher, or its state cannot be encoded.
    """
    if checkpoint.seq <= newest_seq:
        raise CheckpointError(f"checkpoint {checkpoint.seq}: seq must be above {newest_seq}, the newest")
    encoded = codec.encode(checkpoint.to_state())
    assert_finite(checkpoint.model, "model")
    return encoded
