"""What a report shows of a checkpoint, as plain data."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.app.build_tagger import open_state
from streamlearn.app.inspect import description
from streamlearn.learners.tagger import Tagger

_POINTS = 400
_TOP = 20
# Features of each table whose weights are drawn.
_SAMPLE = 4000
# Weights of pairs of labels that are read at once.
_CELLS = 1 << 20


def collect(where: str) -> dict[str, Any]:
    """Return everything that a report needs.

    Raises
    ------
    CheckpointError : there is no checkpoint that verifies.
    """
    state, loaded = open_state(where)
    by_label, history = state.progressive.by_label, state.history
    scores, _ = by_label.scores(len(state.tagger.labels))
    return {
        **description(state, loaded, _TOP),
        "curve": history.curve(_POINTS),
        "drifts": [asdict(drift) for drift in history.drifts],
        "label_scores": {name: asdict(score) for name, score in scores.items()},
        "confusions": by_label.confusions(_TOP),
        **_features(state.tagger),
    }


def _features(tagger: Tagger) -> dict[str, list[float]]:
    """Return weight norms and learning rates of evenly spaced features, in order of first occurrence."""
    # A row of pairs of many labels takes megabytes.
    block = 1 + _CELLS // (1 + len(tagger.labels)) ** 2
    nodes, edges = (
        np.arange(0, used, 1 + used // most, dtype=np.int32)
        for used, most in zip(tagger.rows_used, (_SAMPLE, min(_SAMPLE, 250 * block)), strict=True)
    )
    blocks = [edges[at : at + block] for at in range(0, len(edges), block)]
    norms = np.concatenate(
        [_norms(tagger.weights_of(nodes, edges[:0])[0])]
        + [_norms(tagger.weights_of(nodes[:0], part)[1]) for part in blocks]
    )
    rows = np.concatenate([nodes, edges])
    rates = tagger.rates_of(nodes, edges)
    heavy, known = norms > 0, (norms > 0) & (rates > 0)
    return {
        "rows": rows[heavy].tolist(),
        "norms": norms[heavy].tolist(),
        "rates": rates[known].tolist(),
        "rate_norms": norms[known].tolist(),
    }


def _norms(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = np.sqrt(np.square(weights).sum(axis=tuple(range(1, weights.ndim))))
    return norms
