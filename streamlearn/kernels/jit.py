"""The decorators of kernels, and where their machine code is cached."""

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numba

_KERNELS = Path(__file__).parent
# The tuples that kernels are given.
_DATA = _KERNELS.parent / "data.py"
_CALLEES = re.compile(r"^from streamlearn\.kernels\.([\w.]+) import", re.M)


def _cache_directory() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "streamlearn" / f"numba-{numba.__version__}"


CACHE = Path(os.environ.get("NUMBA_CACHE_DIR") or _cache_directory())


def fingerprint(sources: Iterable[Path]) -> str:
    """Give twelve hexadecimal digits that change with any of the files."""
    digest = hashlib.blake2b(digest_size=6)
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def cache_of(path: Path) -> Path:
    """Name a directory after the sources that the machine code of a file of kernels depends on.

    Numba notices that the file of a kernel has changed, but not that a callee in another file has, or the
    order of a tuple's fields, so that it would run old code. Any such change starts a new directory.
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
    return CACHE / f"{path.stem}-{fingerprint(sources)}"


def _compiled(function: Any, **options: Any) -> Any:
    # setattr: numba creates the options of its config at run time, where type checkers do not see them.
    setattr(numba.config, "CACHE_DIR", str(cache_of(Path(function.__code__.co_filename))))  # noqa: B010
    return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)


def kernel(function: Any) -> Any:
    """Compile a function of arrays and scalars.

    It runs without the GIL: the next batch is polled and decoded while this one is learned. A division by
    zero gives inf as in numpy, without a branch per division.
    """
    return _compiled(function)


def inner_kernel(function: Any) -> Any:
    """Compile what other kernels call for each sequence or position, which makes no array and gives none.

    Numba counts references to arrays, and to each slice of one, with atomic instructions: much of the time of
    a chain with few labels. Here it does not. To make an array, or to assign one to a slice, is an error of
    compilation. What is called from here is compiled so too: an inner kernel calls inner kernels only.
    """
    return _compiled(function, _nrt=False)
