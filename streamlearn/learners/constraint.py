"""Which labellings are valid, according to the names of the labels."""

from collections.abc import Sequence

import numpy as np

from streamlearn.choices import Scheme
from streamlearn.kernels.chain.mask import ANYTHING, Mask

# The marks of each scheme. BMES and BILOU are IOBES with other letters.
_MARKS: dict[Scheme, dict[str, str]] = {
    "none": {},
    "bio": {"B": "B", "I": "I", "O": "O"},
    "iobes": {"B": "B", "I": "I", "E": "E", "S": "S", "O": "O", "M": "I", "L": "E", "U": "S"},
}


class Constraint:
    """Turns the rules of a scheme into a mask, and does so again whenever the labels change.

    A label is a mark, and after the first ``-`` a type. In BIO, ``I-X`` may only follow ``B-X`` or ``I-X``.
    In IOBES, BMES and BILOU a span that has begun must also end. Labels that do not belong to the scheme are
    allowed everywhere.

    Examples
    --------
    >>> mask = Constraint("bio").mask(["O", "B-X", "I-X"])
    >>> mask.first.tolist(), mask.pairs[0].tolist()
    ([0.0, 0.0, -inf], [0.0, 0.0, -inf])
    """

    def __init__(self, scheme: Scheme = "none") -> None:
        self._scheme = scheme
        self._latest: tuple[list[str], Mask] = [], ANYTHING

    def mask(self, names: Sequence[str]) -> Mask:
        """Return the mask over labels with these names, in their order."""
        known, mask = self._latest
        if self._scheme != "none" and known != names:
            mask = _mask_of(self._scheme, names)
            self._latest = list(names), mask
        return mask


def _mask_of(scheme: Scheme, names: Sequence[str]) -> Mask:
    marks = np.array([_MARKS[scheme].get(name.partition("-")[0], "") for name in names])
    types = np.array([name.partition("-")[2] for name in names])
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
