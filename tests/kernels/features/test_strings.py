import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.kernels.features.strings import hash_strings

SEPARATOR = 0xFF


def hashes(parts):
    out = np.empty(len(parts), np.uint64)
    text = np.frombuffer(bytes([SEPARATOR]).join(parts), np.uint8)
    assert hash_strings(text, SEPARATOR, out) == len(parts)
    return out.tolist()


words = st.binary(max_size=20).map(lambda word: word.replace(b"\xff", b""))


@settings(deadline=None)
@given(parts=st.lists(words, max_size=8), around=words)
def test_a_hash_depends_on_the_string_alone(parts, around):
    alone = [hashes([part])[0] for part in parts]
    assert hashes([around, *parts, around])[1:-1] == alone


def test_strings_that_differ_have_hashes_that_differ():
    short = [bytes(pair) for n in range(3) for pair in itertools.product(range(255), repeat=n)]
    zeros = [b"\0" * n for n in range(3, 40)]
    long = [b"the same beginning " + bytes([n]) + b" and end" for n in range(255)]
    parts = [*short, *zeros, *long]
    assert len(set(hashes(parts))) == len(parts)


def test_strings_beyond_what_was_expected_are_counted():
    out = np.zeros(2, np.uint64)
    assert hash_strings(np.frombuffer(b"a\x1fb\x1fc", np.uint8), 0x1F, out) == 3
    assert out.tolist() == hashes([b"a", b"b"])
