"""Hashes of many strings at once, to look their values up by."""

import numpy as np

from streamlearn.kernels.jit import kernel
from streamlearn.kernels.keys import mix


@kernel
def hash_strings(text, starts, ends, hashes_out):
    """Hash strings that lie one after the other, by their length and then eight bytes at a time.

    Two strings of one length up to eight bytes never share a hash, because `mix` is one-to-one. Of others
    a pair does with a chance of 2**-64, as it does for the ids themselves. The hashes are not for keeping:
    nothing that is stored may depend on them.

    Parameters
    ----------
    text : uint8[·], UTF-8.
    starts, ends : int64[n], where each string lies in `text`.
    hashes_out : uint64[n].
    """
    for i in range(starts.size):
        hashed = np.uint64(ends[i] - starts[i])
        for begin in range(starts[i], ends[i], 8):
            word = np.uint64(0)
            for at in range(begin, min(begin + 8, ends[i])):
                word = (word << np.uint64(8)) | np.uint64(text[at])
            hashed = mix(hashed, word)
        hashes_out[i] = hashed
