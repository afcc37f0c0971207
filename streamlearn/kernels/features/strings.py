"""Hashes of many strings at once, to look their values up by."""

import numpy as np

from streamlearn.kernels.features.keys import mix
from streamlearn.kernels.jit import kernel


@kernel
def hash_strings(text, separator, hashes_out):
    """Hash strings that stand one after the other, eight bytes at a time and then by their length.

    Two strings of one length up to eight bytes never share a hash, because `mix` is one-to-one. Of others
    a pair does with a chance of 2**-64, as it does for the ids themselves. The hashes are not for keeping:
    nothing that is stored may depend on them.

    Parameters
    ----------
    text : uint8[·], the strings with one `separator` between each two.
    hashes_out : uint64[n], n ≥ 1.

    Returns
    -------
    How many strings there are; those after the n-th are not hashed.
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
