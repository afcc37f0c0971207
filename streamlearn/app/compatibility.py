"""Whether a checkpoint can be continued with a configuration and a stream, as `run` and `check` require."""

from streamlearn.app.build_tagger import build_tagger
from streamlearn.checkpoint.reading import Loaded
from streamlearn.config.learned_part import changes
from streamlearn.config.schema import Config
from streamlearn.data import StreamIdentity
from streamlearn.errors import ConfigError, StreamError
from streamlearn.learners.room import format_bytes
from streamlearn.learners.weights import rows_in


def require_same_model(loaded: Loaded, config: Config) -> None:
    """Return if the model of a checkpoint can be trained further with a configuration.

    Tables may be larger or smaller than before as long as everything learned fits: no weight depends on their
    size until one is full, which is counted.

    Raises
    ------
    ConfigError : it is another model, was trained with other settings, or does not fit the tables.
    """
    checkpoint = loaded.checkpoint
    if checkpoint.model_id != config.model:
        raise ConfigError(
            f"{loaded.where} belongs to the model {checkpoint.model_id!r}, the configuration to "
            f"{config.model!r}; give each model its own checkpoint.directory"
        )
    changed = changes(checkpoint.config, config)
    if changed and not config.checkpoint.accept_config_change:
        raise ConfigError(
            f"{loaded.where} was trained with other values of {', '.join(changed)}; change them back, start "
            "with a new checkpoint.directory, or set checkpoint.accept_config_change=true"
        )
    _require_room(loaded, config)


def _require_room(loaded: Loaded, config: Config) -> None:
    features, saved = config.features, loaded.checkpoint.model["features"]
    small = [
        f"features.{key} is {room}, wanted {known} or more"
        for key, room, known in (
            ("max_features", features.max_features, saved["node"]["keys"].size),
            # Row 0 of the edge table is the plain transition, which has room of its own.
            ("max_edge_features", features.max_edge_features, saved["edge"]["keys"].size - 1),
        )
        if known > room
    ]
    if small:
        raise ConfigError(f"{loaded.where} has more features than the tables can hold: {', '.join(small)}")
    room = build_tagger(config).room
    fits = room.rows(len(loaded.checkpoint.model["labels"]))
    used = rows_in(loaded.checkpoint.model["learner"])
    if any(rows > most for rows, most in zip(used, fits, strict=True)):
        raise ConfigError(
            f"{loaded.where} has more features than features.memory has room for "
            f"({format_bytes(room.memory)}): "
            f"{used[0]:,} and {used[1]:,} of pairs of labels, room for {fits[0]:,} and {fits[1]:,}; raise it"
        )


def require_same_stream(saved: StreamIdentity, found: StreamIdentity) -> None:
    """Return if the positions of a checkpoint still refer to the same records.

    Raises
    ------
    StreamError : the cluster is another one, or a topic was deleted and created again.
    """
    if saved.cluster_id and found.cluster_id and saved.cluster_id != found.cluster_id:
        raise StreamError(
            f"the state was learned from cluster {saved.cluster_id}, this is cluster {found.cluster_id}: its "
            "offsets mean nothing here; correct kafka.bootstrap_servers, or use a new checkpoint.directory"
        )
    for topic, topic_id in saved.topic_ids.items():
        now = found.topic_ids.get(topic)
        if now and now != topic_id:
            raise StreamError(
                f"topic {topic} was deleted and created again (id {topic_id}, now {now}): the saved offsets "
                "mean nothing any more; use a new checkpoint.directory"
            )
