"""Which labellings are valid, according to the names of the labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import Scheme
from streamlearn.kernels.chain.mask import ANYTHING, Mask
from streamlearn.label_names import read_labels

# The marks of each scheme. BMES and BILOU are IOBES with other letters.
_MARKS: dict[Scheme, dict[str, str]] = {
    "none": {},
    "bio": {"B": "B", "I": "I", "O": "O"},
    "iobes": {"B": "B", "I": "I", "E": "E", "S": "S", "O": "O", "M": "I", "L": "E", "U": "S"},
}


class Constraint:
    """Turns the rules of a scheme into a mask, and does so again whenever the labels change.

    In BIO, ``I-X`` may only follow ``B-X`` or ``I-X``. In IOBES, BMES and BILOU a span that has begun must
    also end. Labels that do not belong to the scheme are allowed everywhere.

    Examples
    --------
    >>> mask = Constraint("bio").mask(["O", "B-X", "I-X"])
    >>> mask.first.tolist(), mask.pairs[0].tolist()
    ([0.0, 0.0, -inf], [0.0, 0.0, -inf])
    """

    def __init__(self, scheme: Scheme = "none") -> None:
        self.scheme = scheme
        self._latest: tuple[list[str], Mask] = [], ANYTHING

    def mask(self, names: Sequence[str]) -> Mask:
        """Return the mask over labels with these names, in their order."""
        known, mask = self._latest
        if self.scheme != "none" and known != names:
            mask = _mask_of(self.scheme, names)
            self._latest = list(names), mask
        return mask

    def forbids(
        self, names: Sequence[str], labels: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which of N sequences are labelled as the mask forbids: bool[N].

        Parameters
        ----------
        labels : int32[n], numbers of these names; -1 for no label gives an arbitrary result.
        starts : int64[N + 1]; sequence i is ``labels[starts[i]:starts[i + 1]]``, of one label or more.
        """
        mask = self.mask(names)
        if not (mask.pairs.size and labels.size):
            return np.zeros(len(starts) - 1, np.bool_)
        first, last = starts[:-1], starts[1:] - 1
        wrong = np.empty(len(labels), np.bool_)
        wrong[1:] = mask.pairs[labels[:-1], labels[1:]] < 0
        wrong[first] = mask.first[labels[first]] < 0
        wrong[last] |= mask.last[labels[last]] < 0
        found: NDArray[np.bool_] = np.logical_or.reduceat(wrong, first)
        return found

    def unreachable(self, names: Sequence[str]) -> list[str]:
        """Return the labels that no valid labelling with these labels contains, however long it is.

        >>> Constraint("iobes").unreachable(["O", "B-X", "I-X", "S-Y"])
        ['B-X', 'I-X']
        """
        mask = self.mask(names)
        if not mask.pairs.size:
            return []
        follows = mask.pairs == 0
        reached = _closure(mask.first == 0, follows.T) & _closure(mask.last == 0, follows)
        return [name for name, is_reached in zip(names, reached.tolist(), strict=True) if not is_reached]


def _closure(found: NDArray[np.bool_], steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return what can be reached from what is found; ``steps[y, z]``: y from z."""
    count = -1
    while count != found.sum():
        count = found.sum()
        found = found | steps[:, found].any(axis=1)
    return found


def _mask_of(scheme: Scheme, names: Sequence[str]) -> Mask:
    parts = read_labels(names)
    marks = np.array([_MARKS[scheme].get(part.mark, "") if part else "" for part in parts])
    types = np.array([part.type if part else "" for part in parts])
    foreign = marks == ""
    begun = np.isin(marks, ["B", "I"])
    continues = np.isin(marks, ["I", "E"])
    unfinished = begun if scheme == "iobes" else np.zeros_like(begun)
    together = (types[:, None] == types) & begun[:, None] & continues
    alone = ~unfinished[:, None] & ~continues
    pairs = together | alone | foreign[:, None] | foreign
    return Mask(_forbidding(~continues), _forbidding(pairs), _forbidding(~unfinished))


def _forbidding(allowed: np.ndarray) -> np.ndarray:
    return np.where(allowed, 0.0, -np.inf)
