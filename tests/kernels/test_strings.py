import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.strings import hash_strings


def hashes(parts):
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    starts = ends - np.array([len(part) for part in parts], np.int64)
    out = np.empty(len(parts), np.uint64)
    hash_strings(np.frombuffer(b"".join(parts), np.uint8), starts, ends, out)
    return out.tolist()


@settings(deadline=None)
@given(parts=st.lists(st.binary(max_size=20), max_size=8), around=st.binary(max_size=9))
def test_a_hash_depends_on_the_string_alone(parts, around):
    alone = [hashes([part])[0] for part in parts]
    assert hashes([around, *parts, around])[1:-1] == alone


def test_strings_that_differ_have_hashes_that_differ():
    short = [bytes(pair) for n in range(3) for pair in itertools.product(range(256), repeat=n)]
    zeros = [b"\0" * n for n in range(3, 40)]
    long = [b"the same beginning " + bytes([n]) + b" and end" for n in range(256)]
    parts = [*short, *zeros, *long]
    assert len(set(hashes(parts))) == len(parts)
