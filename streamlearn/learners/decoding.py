"""Decoding for every learner: best labellings, probabilities and the K best."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.choices import MarginalsOf
from streamlearn.data import Alternative, Prediction
from streamlearn.kernels.chain import decoding
from streamlearn.kernels.chain.mask import Mask
from streamlearn.kernels.updates.voted import decode_by_vote
from streamlearn.learners.base import Scoring


@dataclass(frozen=True, slots=True)
class Marginals:
    """Probabilities among the labellings that the mask allows.

    Attributes
    ----------
    token : float64[n], of each label of the best labelling.
    log_sequence : float64[N], logarithm of the best labelling's.
    log_z : float64[N], what to subtract from the score of a labelling to get the logarithm of its own.
    node : float64[n, L], of every label; float64[0, 0] if not wanted.
    """

    token: NDArray[np.float64]
    log_sequence: NDArray[np.float64]
    log_z: NDArray[np.float64]
    node: NDArray[np.float64]


class Decoder:
    """Labels the sequences of `scoring` with what `mask` allows; if it allows nothing, it is ignored.

    Raises
    ------
    ValueError : no label is known yet.
    """

    def __init__(self, scoring: Scoring, mask: Mask) -> None:
        if not scoring.n_labels:
            raise ValueError("no label is known yet: learn from a labelled sequence first")
        self._starts = scoring.rows.starts
        self._n_labels = scoring.n_labels
        mask = mask._replace(beam=scoring.beam)
        self._task = decoding.Decoding(
            scoring.rows, scoring.n_labels, scoring.plane, scoring.share, mask, scoring.weights
        )
        self._votes = scoring.votes

    def best(self) -> NDArray[np.int32]:
        """Return the best labelling of each sequence, int32[n]."""
        path = np.empty(int(self._starts[-1]), np.int32)
        if len(self._votes):
            decode_by_vote(self._task, self._votes, path)
        else:
            decoding.decode(self._task, path)
        return path

    def marginals(self, of_all_labels: bool = False) -> Marginals:
        """Return the probabilities of the best labelling of each sequence, or also those of all labels."""
        n, count = int(self._starts[-1]), len(self._starts) - 1
        node = np.empty((n, self._n_labels) if of_all_labels else (0, 0))
        found = Marginals(np.empty(n), np.empty(count), np.empty(count), node)
        decoding.decode_marginals(self._task, found.token, found.node, found.log_sequence, found.log_z)
        return found

    def k_best(self, k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the K best labellings of each sequence, best first: int32[K, n] and scores float64[N, K].

        If there are fewer, the remaining scores are -inf, and their labellings are undefined.
        """
        paths = np.empty((k, int(self._starts[-1])), np.int32)
        scores = np.empty((len(self._starts) - 1, k))
        decoding.decode_k_best(self._task, paths, scores)
        return paths, scores

    def predictions(
        self,
        path: NDArray[np.int32],
        names: Sequence[str],
        *,
        marginals: MarginalsOf,
        k_best: int,
        probabilistic: bool,
    ) -> list[Prediction]:
        """Return a prediction for each sequence, with the names of the labels.

        Parameters
        ----------
        path : the best labellings, as `best` returns them.
        marginals : include the probabilities of the best labelling, or also those of all labels.
        k_best : include up to this number of the best labellings with their scores; 0 for none.
        probabilistic : include the probabilities of these too.
        """
        wanted = marginals != "none"
        found = self.marginals(marginals == "all") if wanted or (k_best and probabilistic) else None
        count = len(self._starts) - 1
        several = list(self._alternatives(names, k_best, found)) if k_best else [None] * count
        return [
            Prediction(
                [names[y] for y in path[a:b].tolist()],
                found.token[a:b].tolist() if found and wanted else None,
                _probability(found.log_sequence[i]) if found and wanted else None,
                several[i],
                _by_label(names, found.node[a:b]) if found and marginals == "all" else None,
            )
            for i, (a, b) in enumerate(itertools.pairwise(self._starts.tolist()))
        ]

    def _alternatives(
        self, names: Sequence[str], k: int, found: Marginals | None
    ) -> Iterator[list[Alternative]]:
        paths, scores = self.k_best(k)
        for i, (a, b) in enumerate(itertools.pairwise(self._starts.tolist())):
            yield [
                Alternative(
                    [names[y] for y in path.tolist()],
                    score,
                    _probability(score - found.log_z[i]) if found else None,
                )
                for path, score in zip(paths[:, a:b], scores[i].tolist(), strict=True)
                if score > -math.inf
            ]


def _by_label(names: Sequence[str], node: NDArray[np.float64]) -> list[dict[str, float]]:
    # Rounding may carry a certainty just above 1.
    return [dict(zip(names, row, strict=False)) for row in np.minimum(node, 1.0).tolist()]


def _probability(logarithm: Any) -> float:
    # Rounding may carry a certainty just above 1.
    return min(math.exp(logarithm), 1.0)
