"""Checks of a configuration and of what it refers to, before anything is started."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from streamlearn.app.compatibility import require_same_model, require_same_stream
from streamlearn.app.evaluate import batches
from streamlearn.app.kafka_source import build_source
from streamlearn.app.label_findings import LabelSurvey
from streamlearn.app.open_examples import open_examples
from streamlearn.app.parts import build_parts
from streamlearn.checkpoint.reading import Loaded
from streamlearn.checkpoint.store import Store
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.data import format_positions
from streamlearn.errors import ConfigError, StreamlearnError
from streamlearn.learners.room import format_bytes
from streamlearn.learners.tagger import Tagger
from streamlearn.stream.kafka.probe import Finding, probe

# Numbers of labels for which the memory is shown where labels are not known before the stream.
_LABELS = (10, 100, 1000)


def check(
    path: Path, overrides: Sequence[str], live: bool, timeout_seconds: float, data: Sequence[str] = ()
) -> Iterator[Finding]:
    """Check the file; with `live` also the state, the broker, topics and permissions.

    Whatever `run` would refuse is a problem here, for the same reason. Changes nothing: a missing state
    directory is not created.

    Parameters
    ----------
    timeout_seconds : for each response of the broker.
    data : files of sequences whose labels are checked.
    """
    try:
        config = load(path, overrides)
        parts = build_parts(config)
    except ConfigError as error:
        yield from (Finding("config", False, problem, error.exit_code) for problem in error.problems)
        return
    reads = ", ".join(config.features.columns) if config.features.templates else "ready-made features"
    known = parts.tagger.labels
    labels = f", {len(known)} known labels" if known else ""
    learner = f"learner {config.learner.kind}"
    yield Finding("config", True, f"{path}: model {config.model}, {learner}, reads {reads}{labels}")
    yield from _memory(parts.tagger)
    if data:
        yield _check_data(config, data)
    if live:
        yield from _check_live(config, parts.store, timeout_seconds)


def _memory(tagger: Tagger) -> Iterator[Finding]:
    """Yield what there is memory for, with the known labels or else with three typical numbers of them."""
    room = tagger.room
    for labels in [len(tagger.labels)] if tagger.labels else _LABELS:
        nodes, pairs = room.rows(labels)
        parts = [f"{nodes:,} features"]
        if room.has_pair_features:
            parts.append(f"{pairs - 1:,} features of pairs of labels")
        if room.sparse(labels):
            parts.append(f"{room.cells(labels):,} weights of such pairs")
        yield Finding(
            "memory", True, f"{format_bytes(room.memory)}: with {labels:,} labels for {', '.join(parts)}"
        )


def _check_data(config: Config, paths: Sequence[str]) -> Finding:
    """Read the labels of files as learning would."""
    survey = LabelSurvey(config)
    try:
        for batch in batches(open_examples(config, paths, survey.reject)):
            survey.add([located.example for located in batch])
        return Finding("data", True, survey.result())
    except StreamlearnError as error:
        return Finding.problem("data", error)


def _check_live(config: Config, store: Store, timeout_seconds: float) -> Iterator[Finding]:
    yield _state(store)
    loaded = None
    try:
        loaded = store.newest()
        if loaded:
            require_same_model(loaded, config)
            seen = loaded.checkpoint.sequences_seen
            yield Finding("checkpoint", True, f"{loaded.where}: valid, {seen:,} sequences learned")
    except StreamlearnError as error:
        yield Finding.problem("checkpoint", error)
    found = probe(config.kafka, config.source.topics, config.source.partitions, timeout_seconds)
    yield from found
    if loaded and all(finding.ok for finding in found):
        yield _positions(config, loaded, timeout_seconds)


def _state(store: Store) -> Finding:
    try:
        return Finding("state", True, f"{store.location}: {store.probe()}")
    except StreamlearnError as error:
        return Finding.problem("state", error)


def _positions(config: Config, loaded: Loaded, timeout_seconds: float) -> Finding:
    positions = loaded.checkpoint.positions
    source = None
    try:
        source = build_source(config, connect_timeout_seconds=timeout_seconds)
        require_same_stream(loaded.checkpoint.identity, source.identity())
        lost = source.open(positions)
    except StreamlearnError as error:
        return Finding.problem("positions", error)
    finally:
        if source is not None:
            source.close()
    removed = f", {sum(lost.values()):,} records from there on were removed" if lost else ""
    return Finding("positions", True, f"the stream continues at {format_positions(positions)}{removed}")
