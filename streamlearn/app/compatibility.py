"""Whether a checkpoint may be continued with a configuration and a stream: what `run` and `check` refuse."""

from streamlearn.checkpoint.reading import Loaded
from streamlearn.config.learned_part import changes
from streamlearn.config.schema import Config
from streamlearn.data import StreamIdentity
from streamlearn.errors import ConfigError, StreamError


def require_same_model(loaded: Loaded, config: Config) -> None:
    """Return if the weights can be learned on.

    Tables may be larger or smaller than they were: no weight depends on it until one is full, which is
    counted and never silent. What was learned must fit.

    Raises
    ------
    ConfigError : of another model, learned with other settings, or larger than the tables.
    """
    checkpoint = loaded.checkpoint
    if checkpoint.model_id != config.model:
        raise ConfigError(
            f"{loaded.where} is of the model {checkpoint.model_id!r}, the configuration of "
            f"{config.model!r}; give each model its own checkpoint.directory"
        )
    changed = changes(checkpoint.config, config)
    if changed and not config.checkpoint.accept_config_change:
        raise ConfigError(
            f"{loaded.where} was learned with other values of {', '.join(changed)}; change them back, "
            "start in a new checkpoint.directory, or set checkpoint.accept_config_change=true"
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
        raise ConfigError(
            f"{loaded.where} holds more features than the tables have room for: {', '.join(small)}"
        )


def require_same_stream(saved: StreamIdentity, found: StreamIdentity) -> None:
    """Return if the positions of a checkpoint still mean the same records.

    Raises
    ------
    StreamError : another cluster, or a topic that was deleted and created anew.
    """
    if saved.cluster_id and found.cluster_id and saved.cluster_id != found.cluster_id:
        raise StreamError(
            f"the state was learned from cluster {saved.cluster_id}, this one is {found.cluster_id}; "
            "its offsets mean nothing here"
        )
    for topic, topic_id in saved.topic_ids.items():
        now = found.topic_ids.get(topic)
        if now and now != topic_id:
            raise StreamError(
                f"topic {topic} was deleted and created anew (id {topic_id} is now {now}); its offsets mean "
                "nothing any more: start in a new checkpoint.directory"
            )
