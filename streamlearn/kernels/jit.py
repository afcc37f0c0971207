"""The one decorator of all kernels, and where their machine code is cached."""

import hashlib
import os
from pathlib import Path

import numba


def _cache_directory() -> Path:
    """Name a directory after the sources of the kernels and of the tuples that they are given.

    Numba notices that the file of a kernel has changed, but not that a callee in another file has, or the
    order of a tuple's fields, so one stale directory would run old code. Any change starts a new one.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=6)
    for source in [package / "data.py", *sorted((package / "kernels").glob("*.py"))]:
        digest.update(source.read_bytes())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "streamlearn" / f"numba-{numba.__version__}-{digest.hexdigest()}"


CACHE = Path(os.environ.get("NUMBA_CACHE_DIR") or _cache_directory())
# setattr: numba creates the options of its config at run time, where type checkers do not see them.
setattr(numba.config, "CACHE_DIR", str(CACHE))  # noqa: B010

# nogil: the next batch is polled and decoded while this one is learned.
# error_model="numpy": a division by zero gives inf as in numpy, without a branch per division.
kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
