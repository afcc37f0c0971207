"""What a report tells of a checkpoint, as plain data."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlearn.app.build_tagger import open_tagger
from streamlearn.app.inspect import description
from streamlearn.app.restoring import restore_scores, understood
from streamlearn.kernels.updates.adf import RATE
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.history import History
from streamlearn.monitor.progressive import Progressive

_POINTS = 400
_TOP = 20
# Features of each table whose weights are drawn.
_SAMPLE = 4000


def collect(where: str) -> dict[str, Any]:
    """Give all that a report needs.

    Raises
    ------
    CheckpointError : no checkpoint there that verifies.
    """
    tagger, loaded = open_tagger(where)
    progressive, history = Progressive(), History()
    restore_scores(progressive, loaded, tagger)
    with understood(loaded.where):
        history.restore(loaded.checkpoint.progressive.get("history", {}))
    scores = progressive.by_label.scores(len(tagger.labels))
    return {
        **description(tagger, loaded, progressive, _TOP),
        "curve": history.curve(_POINTS),
        "drifts": [asdict(drift) for drift in history.drifts],
        "label_scores": {name: asdict(score) for name, score in scores.items()},
        "confusions": progressive.by_label.confusions(_TOP),
        **_features(tagger, loaded.checkpoint.model["learner"]),
    }


def _features(tagger: Tagger, learner: dict[str, Any]) -> dict[str, list[float]]:
    """Give norms of the weights of evenly chosen features, by order of first sighting, and their rates."""
    # A learner that looks again has its own learner inside.
    state = learner.get("learner", learner)
    nodes, edges = (np.arange(0, used, 1 + used // _SAMPLE, dtype=np.int32) for used in tagger.rows_used)
    node, edge = tagger.weights_of(nodes, edges)
    norms = np.concatenate([_norms(node), _norms(edge)])
    rows = np.concatenate([nodes, edges])
    rates = np.zeros(len(rows))
    # Only the notes of ADF, which has windows, begin with a rate.
    if "window" in state:
        rates = np.concatenate([state["node_meta"][nodes, RATE], state["edge_meta"][edges, RATE]])
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
