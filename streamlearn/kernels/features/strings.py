"""Hashes of many strings at once, for looking up their values."""

import numpy as np

from streamlearn.kernels.arrays import Uint8s, Uint64s
from streamlearn.kernels.features.keys import mix
from streamlearn.kernels.jit import kernel


@kernel
def hash_strings(text: Uint8s, separator: int, hashes_out: Uint64s) -> int:
    """Hash concatenated strings, eight bytes at a time and then their length.

    Two strings of the same length up to eight bytes never have the same hash, because `mix` is one-to-one.
    Other pairs collide with probability 2**-64, as the ids themselves do. Nothing that is stored may depend
    on these hashes.

    Parameters
    ----------
    text : uint8[·], the strings with one `separator` between each two.
    hashes_out : uint64[n], n ≥ 1.

    Returns
    -------
    The number of strings; those after the n-th are not hashed.
    """
    found = 0
    hashed, word, length = np.uint64(0), np.uint64(0), 0
    for at in range(text.size + 1):
        if at == text.size or text[at] == separator:
            if found < hashes_out.size:
                hashes_out[found] = mix(mix(hashed, word), np.uint64(length))
            found += 1
            hashed, word, length = np.uint64(0), np.uint64(0), 0
        else:
            if length and length % 8 == 0:
                hashed, word = mix(hashed, word), np.uint64(0)
            word = (word << np.uint64(8)) | np.uint64(text[at])
            length += 1
    return found
