"""Objects below a URL through fsspec: the few operations that a remote state needs."""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from streamlearn.checkpoint.codec import CorruptError
from streamlearn.errors import CheckpointError, ConfigError, StreamlearnError

# Schemes whose drivers support conditional creation, decided by the server in one request, and whose listings
# show what was written. `memory` is local to one process.
_SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory")
_PART_BYTES = 16 << 20
# `memory` has no server that decides between two clients.
_ONE_AT_A_TIME = threading.Lock()


class Objects:
    """The objects below a URL; every error is one line that names the object.

    Credentials and endpoints come from the environment of the driver (AWS_…, GOOGLE_…).

    Raises
    ------
    ConfigError : the URL cannot be used, or its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        _require_usable(self.url)
        try:
            import fsspec

            # Without a cache, so that objects written by another daemon are visible immediately.
            self._fs, self._root = fsspec.url_to_fs(self.url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"{url}: {error}; pip install 'streamlearn[remote]' installs s3://") from None

    def where(self, name: str) -> str:
        """Return the URL of an object."""
        return f"{self.url}/{name}"

    def names(self, folder: str = "") -> list[str]:
        """List the objects directly below `folder` ("" or "name/"), sorted."""
        with self._driver_errors(folder):
            try:
                found = self._fs.ls(self._path(folder.rstrip("/")), detail=True)
            except FileNotFoundError:
                return []
        return sorted(folder + at["name"].rpartition("/")[2] for at in found if at["type"] == "file")

    def create(self, name: str, content: bytes) -> bool:
        """Create an object unless the name exists, and return whether it was created.

        If several clients try at the same time, exactly one succeeds.
        """
        with self._driver_errors(name), _ONE_AT_A_TIME:
            try:
                self._fs.pipe_file(self._path(name), content, mode="create")
            except FileExistsError:
                return False
        return True

    def read(self, name: str) -> bytes:
        """Return the content of a small object."""
        with self.open(name) as file:
            return file.read()

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open an object for reading; only the parts that are read are fetched.

        Raises
        ------
        CorruptError : there is no object of that name.
        """
        with self._driver_errors(name), self._fs.open(self._path(name), "rb", cache_type="none") as file:
            yield cast(BinaryIO, file)

    @contextlib.contextmanager
    def open_new(self, name: str) -> Iterator[BinaryIO]:
        """Open a large object for writing in parts; nobody else may write to that name.

        If the context ends with an error, an incomplete object may remain.
        """
        with self._driver_errors(name), self._fs.open(self._path(name), "wb", block_size=_PART_BYTES) as file:
            yield cast(BinaryIO, file)

    def delete(self, name: str) -> None:
        """Delete an object if it exists."""
        with self._driver_errors(name), contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _driver_errors(self, name: str) -> AbstractContextManager[None]:
        return _driver_errors(self.where(name))


@contextlib.contextmanager
def _driver_errors(where: str) -> Iterator[None]:
    try:
        yield
    except StreamlearnError:
        raise
    except FileNotFoundError as error:
        raise CorruptError(f"{where}: the object does not exist ({_line(error)})") from error
    # Drivers raise all kinds of exceptions: those of botocore and aiohttp are not OSErrors.
    except Exception as error:
        raise CheckpointError(f"{where}: {_line(error)} ({type(error).__name__})") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _require_usable(url: str) -> None:
    parts: Any = urlsplit(url)
    if parts.scheme not in _SCHEMES:
        raise ConfigError(
            f"{url}: {parts.scheme}:// has no conditional writes, so that two daemons could overwrite each "
            f"other's state; wanted a directory, or a URL of {', '.join(_SCHEMES)}"
        )
    if "@" in parts.netloc and parts.scheme not in ("abfs", "abfss"):
        raise ConfigError(
            f"{parts.scheme}://…@…: credentials in the URL are not supported; set them in the environment"
        )
