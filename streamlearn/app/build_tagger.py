"""Taggers: from a configuration or from a checkpoint."""

from collections.abc import Callable
from threading import Timer

from streamlearn.app.build_learner import build_learner
from streamlearn.checkpoint.location import open_checkpoint
from streamlearn.checkpoint.reading import Loaded
from streamlearn.choices import Scheme
from streamlearn.config.learned_part import from_learned
from streamlearn.config.schema import Config
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Example
from streamlearn.errors import ConfigError
from streamlearn.features.encoder import Encoder
from streamlearn.features.labels import LabelSet
from streamlearn.features.space import FeatureSpace
from streamlearn.features.templates import parse_templates
from streamlearn.features.values import NameBook
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.constraint import Constraint
from streamlearn.learners.room import Room, format_bytes
from streamlearn.learners.tagger import Tagger

# Cached kernels are loaded within this time.
_LOADING_SECONDS = 3.0


def build_tagger(config: Config) -> Tagger:
    """Return a tagger that has learned nothing yet.

    Raises
    ------
    ConfigError : a template is invalid.
    """
    features, labels = config.features, config.labels
    where = str(features.template_file or "features.templates")
    templates = parse_templates(features.templates or "", features.columns, where)
    names = NameBook(features.names)
    space = FeatureSpace(templates, features.max_features, features.max_edge_features, names)
    spec = ChainSpec(space.capacities, features.memory, space.plain_edges, space.second_order)
    learner, scheme = build_learner(config.learner, spec), labels.scheme
    _require_memory(len(labels.known), learner.room)
    most = min(labels.max, learner.room.labels)
    label_set = LabelSet(labels.known, labels.map, labels.other, most, scheme.model)
    encoder = Encoder(features.columns, space.views, label_set, features.cache, names, learner.room.positions)
    return Tagger(encoder, label_set, space, learner, Constraint(labels.constraint), scheme.data)


def _require_memory(n_labels: int, room: Room) -> None:
    if n_labels > room.labels:
        raise ConfigError(
            f"features.memory: {format_bytes(room.memory)} has room for the transitions of {room.labels:,} "
            f"labels, labels.known has {n_labels:,}; raise it"
        )


def warm_up(config: Config, say: Callable[[str], None]) -> None:
    """Compile or load every kernel that `config` needs, so that the first record does not wait for it.

    Parameters
    ----------
    say : called with a message if this takes long, because the compiled kernels are not cached yet.
    """
    notice = Timer(_LOADING_SECONDS, say, ["compiling kernels, which takes minutes (once; they are cached)"])
    notice.daemon = True
    notice.start()
    try:
        _exercise(config)
    finally:
        notice.cancel()


def _exercise(config: Config) -> None:
    small = {"max_features": 64, "max_edge_features": 64, "names": 64, "cache": 64}
    tagger = build_tagger(config.model_copy(update={"features": config.features.model_copy(update=small)}))
    columns = config.features.columns
    # The ready-made features are used where no template reads a column.
    example = Example({name: ["a", "b"] for name in columns}, ["O", "B-X"], [["a"], ["b"]])
    with Pipeline(LearningState(tagger)) as pipeline:
        for _ in range(2):
            pipeline.submit(tagger.encode([example]).batch, 0.0)
            pipeline.settle()
    tagger.predict_one(example)


def open_state(where: str, constrain: Scheme | None = None) -> tuple[LearningState, Loaded]:
    """Return what a checkpoint, or the newest checkpoint of a state, has learned.

    Parameters
    ----------
    where : file, state directory, or URL of either.
    constrain : overrides `labels.constrain`.

    Raises
    ------
    CheckpointError : there is no checkpoint that verifies.
    ConfigError : its configuration is unknown to this release.
    """
    loaded = open_checkpoint(where)
    config = from_learned(loaded.checkpoint.config)
    if constrain is not None:
        labels = config.labels.model_copy(update={"constrain": constrain})
        config = config.model_copy(update={"labels": labels})
    state = LearningState(build_tagger(config))
    state.restore(loaded)
    return state, loaded
