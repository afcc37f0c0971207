"""What every store of checkpoints gives, wherever it keeps them."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from streamlearn.checkpoint import codec
from streamlearn.checkpoint.finite import assert_finite
from streamlearn.checkpoint.reading import Generation, Loaded
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.errors import CheckpointError


class Saved(NamedTuple):
    """A checkpoint that is durable."""

    where: str
    size_bytes: int


class Store(Protocol):
    """The generations of one state; `load_newest`, `roll_back` and `save` work only while it is held.

    Every method raises a CheckpointError where the place cannot be read or written.
    """

    @property
    def location(self) -> str:
        """Where it is, as the configuration names it."""

    def make(self) -> None:
        """Make the place, if it is missing and places are made there."""

    def probe(self) -> str:
        """Return whether a daemon could hold it now; changes nothing.

        Raises
        ------
        StateLockedError : another daemon holds it.
        """

    def lock(self) -> AbstractContextManager[None]:
        """Hold it.

        Raises
        ------
        StateLockedError : another daemon holds it, or has taken it at this moment.
        """

    def load_newest(self) -> Loaded | None:
        """Read the newest checkpoint that verifies, and set newer ones that do not aside.

        None only where there has never been one.

        Raises
        ------
        CheckpointError : there are checkpoints and none verifies, or the newest is intact but of another
            release. Going on would silently start from zero, or undo what that release has learned.
        """

    def newest(self) -> Loaded | None:
        """Do the same without holding it and without changing anything."""

    def save(self, checkpoint: Checkpoint) -> Saved:
        """Make `checkpoint` the newest generation; when this returns, it survives a power cut.

        Killed at any instant, `load_newest` gives this one or the one before, complete.

        Raises
        ------
        NonFiniteWeightsError : a weight of the model is not finite.
        StateLockedError : another daemon has taken the state over; this one must stop.
        CheckpointError : it was not written, and older generations are untouched.
        """

    def roll_back(self, seq: int) -> Generation:
        """Make an older generation the newest; those after it are set aside.

        Weights and positions go back together, so that the records since then are learned again.

        Raises
        ------
        CheckpointError : it is not there, or does not verify; nothing was changed.
        """

    def keep_newest(self, sequence: int) -> str | None:
        """Keep the newest generation from retention, since something happened at `sequence`.

        At most five are kept so. Gives where it is, or will be once the next one is saved; None where there
        is no generation.
        """

    def generations(self) -> list[Generation]:
        """Describe every generation, oldest first, from its header alone; needs no lock."""

    def free_bytes(self) -> int | None:
        """Return the room that is left; None if nobody knows. Never raises."""


def encode_next(checkpoint: Checkpoint, newest_seq: int) -> codec.EncodedState:
    """Return the bytes of the checkpoint that follows number `newest_seq`.

    Raises
    ------
    NonFiniteWeightsError : a weight of the model is not finite.
    CheckpointError : its number is not above, or its state cannot be encoded.
    """
    if checkpoint.seq <= newest_seq:
        raise CheckpointError(f"checkpoint {checkpoint.seq}: seq must be above {newest_seq}, the newest")
    encoded = codec.encode(checkpoint.to_state())
    assert_finite(checkpoint.model, "model")
    return encoded
