"""What a checkpoint holds, as plain data."""

from typing import Any

from streamlearn.app.build_tagger import open_tagger
from streamlearn.app.restoring import restore_scores
from streamlearn.checkpoint.reading import Loaded
from streamlearn.config.learned_part import from_learned
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.progressive import Progressive


def describe(where: str, top: int) -> dict[str, Any]:
    """Tell everything about a checkpoint that a person may want to know, with `top` features a label.

    Raises
    ------
    CheckpointError : no checkpoint there that verifies.
    """
    tagger, loaded = open_tagger(where)
    progressive = Progressive()
    restore_scores(progressive, loaded, tagger)
    return description(tagger, loaded, progressive, top)


def description(tagger: Tagger, loaded: Loaded, progressive: Progressive, top: int) -> dict[str, Any]:
    """Tell the same of a checkpoint that was opened before, its scores included."""
    checkpoint = loaded.checkpoint
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
        "progressive": progressive.scores(),
        "features": {
            "known": int(gauges["features_known"]),
            "refused": int(gauges["features_refused"]),
            "capacity": config.features.max_features + config.features.max_edge_features,
        },
        "labels": list(tagger.labels),
        "heaviest": {label: tagger.heaviest(label, top) for label in tagger.labels},
    }
