"""What a checkpoint holds, as plain data."""

from typing import Any

from streamlearn.app.build_tagger import open_state
from streamlearn.checkpoint.reading import Loaded
from streamlearn.config.learned_part import from_learned
from streamlearn.daemon.learning_state import LearningState


def describe(where: str, top: int) -> dict[str, Any]:
    """Describe a checkpoint, with the `top` heaviest features of each label.

    Raises
    ------
    CheckpointError : there is no checkpoint that verifies.
    """
    return description(*open_state(where), top)


def description(state: LearningState, loaded: Loaded, top: int) -> dict[str, Any]:
    """Describe a checkpoint that was opened before."""
    checkpoint, tagger = loaded.checkpoint, state.tagger
    config = from_learned(checkpoint.config)
    gauges = tagger.gauges()
    return {
        "file": loaded.where,
        "size_bytes": loaded.size_bytes,
        "format_version": checkpoint.format_version,
        "app_version": checkpoint.app_version,
        "model": checkpoint.model_id,
        "learner": config.learner.kind,
        "run_id": checkpoint.run_id,
        "seq": checkpoint.seq,
        "created_unix": checkpoint.created_unix,
        "config_digest": checkpoint.config_digest,
        "cluster_id": checkpoint.identity.cluster_id,
        "topic_ids": dict(checkpoint.identity.topic_ids),
        "positions": [
            {"topic": at.topic, "partition": at.partition, "next_offset": position.next_offset}
            for at, position in checkpoint.positions.items()
        ],
        "sequences_seen": checkpoint.sequences_seen,
        "progressive": state.progressive.scores(),
        "features": {
            "known": int(gauges["features_known"]),
            "refused": int(gauges["features_refused"]),
            "capacity": config.features.max_features + config.features.max_edge_features,
        },
        "labels": list(tagger.labels),
        "heaviest": {label: tagger.heaviest(label, top) for label in tagger.labels},
    }
