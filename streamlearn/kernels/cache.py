"""The cache of compiled kernels: one directory, which may be read-only, and no other.

Numba's own search for a directory wants one that it can write to. Where it finds none it silently uses
others, such as ``__pycache__``, which do not notice that a callee has changed, or it refuses to compile at
all. Here a read-only directory, such as that of a container image, is read. What it does not contain is
compiled and cannot be kept, which is reported once.
"""

import contextlib
import hashlib
import logging
import os
import pickle
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Self

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_KERNELS = Path(__file__).parent
# The tuples that kernels are given.
_DATA = _KERNELS.parent / "data.py"
_CALLEES = re.compile(r"^from streamlearn\.kernels\.([\w.]+) import", re.M)

logger = logging.getLogger(__name__)


def cache_directory() -> Path:
    """Return ``NUMBA_CACHE_DIR``, or a directory in the user's cache for this version of numba."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - it never raises
    if base.startswith("~"):
        # A user whom /etc/passwd does not know, as in some containers, has no home: nobody can write here.
        base = os.devnull
    return Path(base) / "streamlearn" / f"numba-{numba.__version__}"


def fingerprint(sources: Iterable[Path]) -> str:
    """Return twelve hexadecimal digits that change with any of the files."""
    digest = hashlib.blake2b(digest_size=6)
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def fingerprint_of(path: Path) -> str:
    """Return the fingerprint of all sources that the machine code of a file of kernels depends on.

    Numba notices that the file of a kernel has changed, but not that a callee in another file has, or the
    order of a tuple's fields, so that it would run old code.
    """
    sources, missing = {_DATA}, {path}
    while missing:
        source = missing.pop()
        sources.add(source)
        callees = {
            _KERNELS.joinpath(*name.split(".")).with_suffix(".py")
            for name in _CALLEES.findall(source.read_text())
        }
        missing |= callees - sources
    return fingerprint(sources)


class _Locator:
    """Where numba finds the machine code of one kernel, in the terms of ``numba.core.caching``."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._line = function.__code__.co_firstlineno
        self._stamp = fingerprint_of(Path(file))
        self._directory = cache_directory() / f"{Path(file).stem}-{self._stamp}"

    @classmethod
    def from_function(cls, function: Any, file: str) -> Self:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(self._directory)

    def ensure_cache_path(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)


class _OneDirectory(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - numba looks for it here


class KernelCache(FunctionCache):
    """The cache of one kernel. What cannot be read is compiled; what cannot be written is not kept."""

    _impl_class = _OneDirectory

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the machine code for a signature and processor, or None."""
        try:
            return super().load_overload(signature, target)
        except OSError as error:
            _report("read", error.strerror or str(error))
        except (EOFError, pickle.UnpicklingError, ValueError):
            # Cut off by a full disk or a crash: what is compiled now replaces it.
            with contextlib.suppress(OSError):
                self.flush()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the machine code of a signature."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            _report("write", error.strerror or str(error))


@cache
def _report(action: str, reason: str) -> None:
    logger.warning(
        "cannot %s the cache of compiled kernels in %s: %s. Every start compiles them again, which takes "
        "minutes; set NUMBA_CACHE_DIR to a directory that this user can write to",
        *(action, cache_directory(), reason),
    )
