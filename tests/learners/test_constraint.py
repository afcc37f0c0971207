import itertools

import numpy as np
import pytest

from streamlearn.learners.constraint import Constraint
from tests import naive

LABELS = {
    "bio": ["I-X", "O", "B-X", "B-Y", "I-Y"],
    "bio without types, and strangers": ["B", "I", "O", "E", "-X-"],
    "iobes": ["E-X", "O", "B-X", "I-X", "S-X", "B-Y", "E-Y"],
    "bilou": ["O", "B-X", "I-X", "L-X", "U-X", "I-"],
    "bmes": ["B", "M", "E", "S"],
    "strangers": ["NN", "B-X-Y", "I-X-Y", "I-X-Z", "Street", ""],
}


def allows(mask, path):
    pairs = itertools.pairwise(path)
    return mask.first[path[0]] + mask.last[path[-1]] + sum(mask.pairs[pair] for pair in pairs) == 0


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_exactly_the_valid_labellings_are_allowed(names, scheme):
    mask = Constraint(scheme).mask(names)
    for length in range(1, 5):
        for path in itertools.product(range(len(names)), repeat=length):
            labels = [names[y] for y in path]
            assert allows(mask, path) == naive.is_valid(labels, scheme), labels


def test_strangers_may_stand_anywhere():
    mask = Constraint("iobes").mask(["NN", "B-X", "E-X", "X"])
    for y in (0, 3):
        assert mask.first[y] == mask.last[y] == 0
        assert not mask.pairs[y].any()
        assert not mask.pairs[:, y].any()


def test_without_a_scheme_there_is_no_mask():
    assert Constraint().mask(["B-X", "I-X"]).pairs.size == 0


def test_the_mask_follows_the_labels():
    constraint = Constraint("bio")
    small = constraint.mask(["O", "I-X"])
    assert constraint.mask(["O", "I-X"]) is small
    large = constraint.mask(["O", "I-X", "B-X"])
    assert np.array_equal(large.pairs[:2, :2], small.pairs)
    assert constraint.mask(["I-X", "O"]).first.tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize(
    ("scheme", "names", "lost"),
    [
        ("bio", ["I-X"], ["I-X"]),
        ("bio", ["O", "I-X", "B-Y", "I-Y"], ["I-X"]),
        ("iobes", ["B-X", "I-X", "B-Y", "I-Y", "O"], ["B-X", "I-X", "B-Y", "I-Y"]),
        ("iobes", ["B-X", "E-X"], []),
        ("iobes", ["E-X", "O"], ["E-X"]),
        ("none", ["I-X"], []),
    ],
)
def test_labels_that_no_valid_labelling_contains_are_known(scheme, names, lost):
    assert Constraint(scheme).unreachable(names) == lost


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_exactly_the_invalid_labellings_of_a_batch_are_found(names, scheme):
    paths = [path for length in (1, 2, 3) for path in itertools.product(range(len(names)), repeat=length)]
    labels = np.array(list(itertools.chain.from_iterable(paths)), np.int32)
    starts = np.cumsum([0, *map(len, paths)])
    found = Constraint(scheme).forbids(names, labels, starts).tolist()
    assert found == [not naive.is_valid([names[y] for y in path], scheme) for path in paths]
