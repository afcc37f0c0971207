"""The decorators of kernels."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from streamlearn.kernels.cache import KernelCache

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F, **options: Any) -> F:
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    # What `cache=True` does, with our own directory; the user's other numba functions keep theirs.
    dispatcher._cache = KernelCache(function)
    return dispatcher  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """Compile a function of arrays and scalars.

    It runs without the GIL: the next batch is polled and decoded while this one is learned. A division by
    zero results in inf as in numpy, without a branch per division.
    """
    return _compiled(function)


def inner_kernel(function: F) -> F:
    """Compile what other kernels call for each sequence or position, which neither makes nor returns arrays.

    Numba counts references to arrays, and to each slice of one, with atomic instructions: much of the time of
    a chain with few labels. Here it does not. To make an array, or to assign one to a slice, is an error of
    compilation. An inner kernel calls inner kernels only.
    """
    return _compiled(function, _nrt=False)
