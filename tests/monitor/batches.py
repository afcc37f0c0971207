"""Batches of labelled sequences, made from lists of names."""

import itertools

import numpy as np
from hypothesis import strategies as st

PREFIXES = {
    "IOB": "BIO",
    "IOBES": "BIOES",
    "BMES": "BMES",
    "BILOU": "BILOU",
    "everything": "BIOESMLU",
}


def encode(labels, sequences):
    """Turn [(gold names, predicted names)] into the arrays that scores take."""
    number = {label: y for y, label in enumerate(labels)}
    gold = np.array([number[label] for names, _ in sequences for label in names], np.int32)
    predicted = np.array([number[label] for _, names in sequences for label in names], np.int32)
    offsets = np.cumsum([0, *(len(names) for names, _ in sequences)])
    return gold, predicted, offsets


def cut(arrays, sizes):
    """Cut one batch into batches of these sizes, the last one as large as need be."""
    gold, predicted, offsets = arrays
    n = len(offsets) - 1
    edges = np.unique(np.clip([0, *np.cumsum(sizes), n], 0, n))
    for first, last in itertools.pairwise(edges):
        start, stop = offsets[first], offsets[last]
        yield gold[start:stop], predicted[start:stop], offsets[first : last + 1] - start


@st.composite
def labelled(draw, min_sequences=0, max_sequences=8):
    """Draw a label set of one scheme and labelled sequences over it, valid for the scheme or not."""
    prefixes = PREFIXES[draw(st.sampled_from(sorted(PREFIXES)))]
    kinds = draw(st.sampled_from([[""], ["-X"], ["-X", "-Y"], ["", "-X", "-Y-Z"]]))
    labels = [prefix + kind for prefix in prefixes for kind in kinds if prefix != "O" or not kind]
    labels += ["O"] * ("O" not in labels)
    label = st.sampled_from(labels)
    pair = st.tuples(label, label | st.none()).map(lambda p: (p[0], p[1] or p[0]))
    sequence = st.lists(pair, min_size=1, max_size=12).map(lambda ps: tuple(map(list, zip(*ps, strict=True))))
    sequences = draw(st.lists(sequence, min_size=min_sequences, max_size=max_sequences))
    return labels, sequences
