"""Taggers: from a configuration, and from a checkpoint."""

from collections.abc import Callable
from threading import Timer

from streamlearn.app.build_learner import build_learner
from streamlearn.app.restoring import restore_tagger
from streamlearn.checkpoint.location import open_checkpoint
from streamlearn.checkpoint.reading import Loaded
from streamlearn.choices import Scheme
from streamlearn.config.learned_part import from_learned
from streamlearn.config.schema import Config
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Example
from streamlearn.features.encoder import Encoder
from streamlearn.features.labels import LabelSet
from streamlearn.features.space import FeatureSpace
from streamlearn.features.templates import parse_templates
from streamlearn.features.values import NameBook
from streamlearn.learners.chain import ChainSpec
from streamlearn.learners.constraint import Constraint
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.progressive import Progressive

# Kernels that are cached are loaded within this time.
_LOADING_SECONDS = 3.0


def build_tagger(config: Config) -> Tagger:
    """Make a tagger that has learned nothing yet.

    Raises
    ------
    ConfigError : the templates are wrong.
    """
    features, labels = config.features, config.labels
    where = str(features.template_file or "features.templates")
    templates = parse_templates(features.templates or "", features.columns, where)
    names = NameBook(features.names)
    space = FeatureSpace(templates, features.max_features, features.max_edge_features, names)
    label_set = LabelSet(labels.known, labels.map, labels.other, labels.max)
    encoder = Encoder(features.columns, space.views, label_set, features.cache, names)
    constraint = Constraint(labels.constrain)
    spec = ChainSpec(space.capacities, space.plain_edges, space.second_order)
    return Tagger(encoder, label_set, space, build_learner(config.learner, spec), constraint)


def warm_up(config: Config, say: Callable[[str], None]) -> None:
    """Compile every kernel that `config` will need, before anybody waits for a record.

    Parameters
    ----------
    say : told when this takes long, because the compiled kernels are not cached yet.
    """
    notice = Timer(_LOADING_SECONDS, say, ["compiling kernels (once; they are cached)"])
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
    # Its ready-made features are read where no template reads a column.
    example = Example({name: ["a", "b"] for name in columns}, ["O", "B-X"], [["a"], ["b"]])
    with Pipeline(tagger, Progressive()) as pipeline:
        for _ in range(2):
            pipeline.submit(tagger.encode([example]).batch, 0.0)
            pipeline.settle()
    tagger.predict_one(example)


def open_tagger(where: str, constrain: Scheme | None = None) -> tuple[Tagger, Loaded]:
    """Make the tagger that a checkpoint, or the newest of a state, holds.

    Parameters
    ----------
    where : file, state directory, or URL of either.
    constrain : what to make of `labels.constrain` instead.

    Raises
    ------
    CheckpointError : nothing there that verifies. ConfigError : of an unknown shape.
    """
    loaded = open_checkpoint(where)
    config = from_learned(loaded.checkpoint.config)
    if constrain is not None:
        labels = config.labels.model_copy(update={"constrain": constrain})
        config = config.model_copy(update={"labels": labels})
    tagger = build_tagger(config)
    restore_tagger(tagger, loaded)
    return tagger, loaded
