"""The manifest of a remote state: who holds it, and which objects are its checkpoints. Pure data."""

import json
import re
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, Self

from streamlearn.checkpoint.retention import Retention
from streamlearn.errors import CheckpointError

POINTERS = "CURRENT/"

_FORMAT = 1
_KEPT = 5
_NAME = re.compile(r"checkpoint-(\d{20})-[0-9a-f]{32}\.slcp")
_POINTER = re.compile(POINTERS + r"\d{20}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One checkpoint object.

    Attributes
    ----------
    name : name of the object; contains the number of the checkpoint.
    created_unix : when it was written.
    set_aside : why it no longer counts as a checkpoint; empty while it does.
    kept_before : the sequence number of the event before which it was pinned; exempts it from retention.
    """

    name: str
    created_unix: float
    set_aside: Literal["", "corrupt", "undone"] = ""
    kept_before: int | None = None

    @property
    def seq(self) -> int:
        """Its checkpoint number."""
        match = _NAME.fullmatch(self.name)
        return int(match[1]) if match else -1


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of CURRENT; every change creates the next number.

    Attributes
    ----------
    number : of this version; -1 before the first.
    owner : token of the daemon that may create the next number.
    holder : the same daemon in readable form.
    entries : oldest first; those with the same number in the order in which they were saved.
    """

    number: int = -1
    owner: str = ""
    holder: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def pointer(self) -> str:
        """The name of the object that stores this version."""
        return f"{POINTERS}{self.number:020d}"

    @property
    def checkpoints(self) -> list[Entry]:
        """The entries that are checkpoints, oldest first."""
        return [entry for entry in self.entries if not entry.set_aside]

    @property
    def names(self) -> set[str]:
        """The names of all objects that it lists."""
        return {entry.name for entry in self.entries}

    def taken(self, owner: str, holder: str) -> Self:
        """Return the next version, in which `owner` holds the state."""
        return self._next(self.entries, owner=owner, holder=holder)

    def saved(self, name: str, created_unix: float, retention: Retention, keep: Mapping[str, int]) -> Self:
        """Return the next version, in which `name` is the newest checkpoint and retention has been applied.

        Parameters
        ----------
        keep : names to pin, each with the sequence number of the event before which it is pinned.
        """
        marked = (
            replace(entry, kept_before=keep.get(entry.name, entry.kept_before)) for entry in self.entries
        )
        return self._next(_retained((*marked, Entry(name, created_unix)), retention))

    def without(self, damaged: Collection[str]) -> Self:
        """Return the next version, in which these are set aside, since they do not verify."""
        return self._set_aside(lambda entry: entry.name in damaged, "corrupt")

    def rolled_back(self, seq: int) -> Self:
        """Return the next version, in which number `seq` is the newest checkpoint."""
        return self._set_aside(lambda entry: entry.seq > seq, "undone")

    def to_bytes(self) -> bytes:
        """Return the content of its object."""
        return json.dumps({"format": _FORMAT} | asdict(self), indent=1).encode()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Self:
        """Return the version in the content of an object; `where` begins error messages.

        Raises
        ------
        CheckpointError : it is damaged, or written by another release.
        """
        try:
            fields = json.loads(content)
            if fields.pop("format") != _FORMAT:
                raise CheckpointError(f"{where}: written by another release; use that release")
            entries = tuple(Entry(**entry) for entry in fields.pop("entries"))
            return cls(**fields, entries=entries)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise CheckpointError(f"{where}: damaged ({error}); delete it to use the previous one") from error

    def _set_aside(self, is_bad: Callable[[Entry], bool], why: Literal["corrupt", "undone"]) -> Self:
        return self._next(
            tuple(
                replace(entry, set_aside=why) if is_bad(entry) and not entry.set_aside else entry
                for entry in self.entries
            )
        )

    def _next(self, entries: tuple[Entry, ...], **changes: str) -> Self:
        return replace(self, number=self.number + 1, entries=entries, **changes)


def new_name(seq: int) -> str:
    """Return a unique object name for a checkpoint; names sort like their numbers."""
    return f"checkpoint-{seq:020d}-{uuid.uuid4().hex}.slcp"


def is_checkpoint(name: str) -> bool:
    """Return whether an object has the name of a checkpoint."""
    return _NAME.fullmatch(name) is not None


def is_pointer(name: str) -> bool:
    """Return whether an object is a version of CURRENT."""
    return _POINTER.fullmatch(name) is not None


def _retained(entries: tuple[Entry, ...], retention: Retention) -> tuple[Entry, ...]:
    created = {entry.seq: entry.created_unix for entry in entries if not entry.set_aside}
    checkpoints = retention.kept(created)
    kept = {entry.name for entry in entries if not entry.set_aside and entry.seq in checkpoints}
    kept |= {entry.name for entry in [e for e in entries if e.kept_before is not None][-_KEPT:]}
    # The retention of the newest ones also limits the damaged ones, kept for inspection.
    for why in ("corrupt", "undone"):
        kept |= {entry.name for entry in [e for e in entries if e.set_aside == why][-retention.newest :]}
    return tuple(entry for entry in entries if entry.name in kept)
