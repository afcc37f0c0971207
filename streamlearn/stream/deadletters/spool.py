"""Dead letters in a local file, one JSON line each: durable when `append` returns, whole after a crash."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from streamlearn.durable import sync_directory
from streamlearn.errors import CheckpointError
from streamlearn.stream.deadletters.letter import DeadLetter


class Spool:
    """Appends to a file, which it makes when the first letter comes.

    Parameters
    ----------
    path : in a directory that exists; one process at a time appends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, letters: Iterable[DeadLetter]) -> None:
        """Write letters; when this returns, they survive a power cut.

        Raises
        ------
        CheckpointError : disk full or failing; the letters before are whole.
        """
        try:
            is_new = not self._path.exists()
            with self._path.open("ab") as file:
                # A line that a crash cut off is made its own line, and passed over by who reads.
                if file.tell() and not _ends_whole(self._path):
                    file.write(b"\n")
                file.writelines(letter.to_line() for letter in letters)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_directory(self._path.parent)
        except OSError as error:
            raise CheckpointError(
                f"{self._path}: dead letters cannot be written: {error.strerror}"
            ) from error


def read_spool(path: Path) -> Iterator[DeadLetter]:
    """Return the letters of a file, in order; nothing where there is none.

    Lines that a crash cut off are passed over: their records are read and refused again.

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
        raise CheckpointError(f"{path}: {error.strerror}") from error


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
