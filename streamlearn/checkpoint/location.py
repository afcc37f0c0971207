"""Opening the store of a location: a URL or a directory."""

from pathlib import Path

from streamlearn.checkpoint import local_files, reading
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.objects import Objects
from streamlearn.checkpoint.reading import Loaded
from streamlearn.checkpoint.remote import RemoteStore
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.store import Store
from streamlearn.errors import CheckpointError


def open_store(location: str, retention: Retention = Retention()) -> Store:  # noqa: B008 - it is frozen
    """Return the store of a directory (``state/ner``) or URL (``s3://bucket/ner``); accesses nothing yet.

    Raises
    ------
    ConfigError : the URL cannot be used, or its driver is not installed.
    """
    if is_remote(location):
        return RemoteStore(Objects(location), retention)
    return CheckpointStore(Path(location), retention)


def open_checkpoint(location: str) -> Loaded:
    """Read a checkpoint (a file or an object), or the newest one that verifies in a state directory or URL.

    Raises
    ------
    CheckpointError : there is no checkpoint, or none verifies.
    ConfigError : the URL cannot be used, or its driver is not installed.
    """
    if not is_remote(location):
        return local_files.open_checkpoint(Path(location))
    if location.endswith(".slcp"):
        folder, _, name = location.rpartition("/")
        with Objects(folder).open(name) as file:
            return reading.load(file, location)
    loaded = open_store(location).newest()
    if loaded is None:
        raise CheckpointError(f"{location}: there is no checkpoint")
    return loaded


def is_remote(location: str) -> bool:
    """Return whether a location is a URL."""
    return "://" in location
