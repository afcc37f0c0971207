"""Dead letters in a local file, one JSON line each: durable when `append` returns, whole after a crash."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from streamlearn.durable import sync_directory
from streamlearn.errors import CheckpointError
from streamlearn.stream.deadletters.dead_letter import DeadLetter


class Spool:
    """Appends dead letters to a file, created with the first one.

    Parameters
    ----------
    path : in an existing directory; only one process at a time may append.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, letters: Iterable[DeadLetter]) -> None:
        """Write letters; when this returns, they survive a power failure.

        Raises
        ------
        CheckpointError : disk full or failing; earlier letters are intact.
        """
        try:
            is_new = not self._path.exists()
            with self._path.open("ab") as file:
                # Ends a line that a crash cut off; readers skip it.
                if file.tell() and not _ends_with_newline(self._path):
                    file.write(b"\n")
                file.writelines(letter.to_line() for letter in letters)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_directory(self._path.parent)
        except OSError as error:
            raise CheckpointError(f"{self._path}: cannot write dead letters: {error.strerror}") from error


def read_spool(path: Path) -> Iterator[DeadLetter]:
    """Yield the letters of a file, in order; nothing if there is no file.

    Lines that a crash cut off are skipped: their records will be read and rejected again.

    Raises
    ------
    CheckpointError : it cannot be read.
    """
    try:
        with path.open("rb") as file:
            for line in file:
                try:
                    yield DeadLetter.from_line(line)
                except ValueError:
                    continue
    except FileNotFoundError:
        return
    except OSError as error:
        raise CheckpointError(f"{path}: cannot read dead letters: {error.strerror}") from error


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
