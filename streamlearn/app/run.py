"""The daemon: everything that `streamlearn run` runs, wired."""

import gc
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import streamlearn
from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.app.compatibility import require_same_model, require_same_stream
from streamlearn.app.dead_letter_sink import build_letters, build_tolerance
from streamlearn.app.drift_watch import SNAPSHOT, build_watch
from streamlearn.app.kafka_source import build_source, in_words
from streamlearn.app.restoring import restore_scores, restore_tagger, understood
from streamlearn.checkpoint.copier import Copier
from streamlearn.checkpoint.location import open_store
from streamlearn.checkpoint.read_progress import ReadProgress
from streamlearn.checkpoint.reading import Loaded
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.checkpoint.store import Store
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.config.learned_part import digest, learned_part
from streamlearn.config.schema import Config
from streamlearn.daemon.checkpointer import Keeper, Lineage, Snapshot
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.intake import BatchReader
from streamlearn.daemon.loop import Loop
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.errors import BrokerUnavailableError, CheckpointError, TelemetryError
from streamlearn.events import (
    ConsumerRestarted,
    Event,
    Gap,
    Learned,
    Observer,
    Polled,
    Resumed,
    StateChanged,
)
from streamlearn.monitor.history import History
from streamlearn.monitor.progressive import Progressive
from streamlearn.stream.deterministic_order import MergedSource
from streamlearn.stream.record_codec import RecordCodec
from streamlearn.stream.source import Source
from streamlearn.telemetry.access import Access
from streamlearn.telemetry.event_log import EventLog
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.logs import emit
from streamlearn.telemetry.metrics import Metrics
from streamlearn.telemetry.server import Server
from streamlearn.telemetry.status import Status
from streamlearn.telemetry.supervisor import Supervisor

_logger = logging.getLogger(__name__)

CURVE_POINTS = 160


class Daemon:
    """Learns from Kafka until told to stop.

    Parameters
    ----------
    stopping : asked at every turn, and while waiting for a broker.
    observers : told of every event, beside the metrics, the health and the log.
    at_once : gives a context in which a stop need not wait to be asked for.

    Attributes
    ----------
    status : what the status page shows.

    Raises
    ------
    ConfigError, TelemetryError : wrong settings or a taken port, before anything is consumed.
    """

    def __init__(
        self,
        config: Config,
        stopping: Callable[[], bool],
        observers: Iterable[Observer] = (),
        at_once: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._config = config
        self._stopping = stopping
        self._at_once = at_once
        self._learned = learned_part(config)
        self._digest = digest(self._learned)
        self._tagger = build_tagger(config)
        self._store = _open_store(config)
        self._progressive = Progressive()
        self._watch = build_watch(config, self._tagger)
        self._source: Source = build_source(
            config,
            connect_timeout_seconds=config.source.connect_timeout_seconds,
            stopping=stopping,
            on_lost=lambda partition, count: self._observe(Gap(partition, count, lost=True)),
            on_restart=lambda reason: self._observe(ConsumerRestarted(reason)),
        )
        health = Health(config.metrics.stall_seconds)
        metrics = Metrics(
            version=streamlearn.__version__,
            model=config.model,
            learner=config.learner.kind,
            digest=self._digest,
        )
        self._history = History()
        self.status = Status(
            {"version": streamlearn.__version__, "model": config.model, "learner": config.learner.kind},
            lambda: self._history.curve(CURVE_POINTS),
            lambda: self._history.drifts,
        )
        self._observers: tuple[Observer, ...] = (
            metrics, health, EventLog(), Supervisor(), self._history, self.status, self._keep_snapshot,
            *observers,
        )  # fmt: skip
        try:
            served, show = config.metrics, self.status.snapshot
            access = Access(served.tls_certificate, served.tls_key, served.username, served.password)
            self._server = Server(served.host, served.port, metrics.registry, health, show, access)
        except TelemetryError:
            # A second daemon of the same configuration finds its port taken; what it must hear is why.
            self._store.probe()
            raise

    @property
    def url(self) -> str:
        """Where the metrics are served."""
        return self._server.url

    def run(self) -> None:
        """Learn until told to stop; whatever happens, the newest checkpoint stays intact.

        Raises
        ------
        StreamlearnError : with the exit code that fits.
        """
        try:
            with ExitStack() as stack:
                stack.enter_context(self._server)
                emit(_logger, logging.INFO, "metrics", url=f"{self.url}/metrics")
                loop = self._prepare(stack)
                loop.run(self._stopping)
                emit(_logger, logging.INFO, "stopped_at", positions=in_words(loop.positions))
        except BaseException as error:
            # A stop that comes while a broker is waited for is no failure.
            if not (isinstance(error, BrokerUnavailableError) and self._stopping()):
                self._observe(StateChanged("failed"))
                raise
        self._observe(StateChanged("stopped"))

    def _prepare(self, stack: ExitStack) -> Loop:
        self._store.make()
        stack.enter_context(self._store.lock())
        loaded = self._store.load_newest()
        if loaded:
            require_same_model(loaded, self._config)
        with self._at_once():
            warm_up(self._config, lambda text: emit(_logger, logging.INFO, text))
        reached = ReadProgress(self._config.checkpoint.local)
        if loaded:
            self._restore(loaded, reached.before)
        self._observers += (_noting(reached),)
        stack.callback(self._source.close)
        source, order = self._ordered(loaded)
        identity = self._source.identity()
        if loaded:
            require_same_stream(loaded.checkpoint.identity, identity)
        positions = self._open_source(source, loaded.checkpoint.positions if loaded else None)
        seen = loaded.checkpoint.sequences_seen if loaded else 0
        duplicates = self._build_duplicates(loaded)
        tolerance = build_tolerance(self._config)
        if loaded:
            tolerance.restore(loaded.checkpoint.reading)
        copier = Copier()
        # The first copy is the slow one; here nobody waits for it.
        copier.copy(self._tagger.view())
        # What is there now stays until the end. Left to the collector, it would be walked through again
        # and again: each time a pause of a tenth of a second, a tenth of the loop's time in all.
        gc.freeze()
        pipeline = stack.enter_context(Pipeline(self._tagger, self._progressive, seen, self._watch))
        seq = loaded.checkpoint.seq if loaded else -1
        keeper = self._build_keeper(stack, identity, order(), seq)

        def snapshot(positions: Mapping[TopicPartition, Position]) -> Snapshot:
            progressive = {**self._progressive.state(), "drift": self._watch.state()}
            progressive["history"] = self._history.state()
            model = copier.copy(self._tagger.view())
            seen = pipeline.sequences_seen
            reading = {**duplicates.state(), **tolerance.state()}
            return Snapshot(dict(positions), seen, progressive, model, reading)

        reader = BatchReader(self._build_codec(), self._tagger, duplicates)
        letters = build_letters(self._config, stack, self._stopping, self._observe)
        return Loop(source, reader, tolerance, letters, pipeline, keeper, positions, snapshot, self._observe)

    def _restore(self, loaded: Loaded, reached: Mapping[TopicPartition, int]) -> None:
        checkpoint = loaded.checkpoint
        restore_tagger(self._tagger, loaded)
        restore_scores(self._progressive, loaded, self._tagger)
        with understood(loaded.where):
            self._watch.restore(checkpoint.progressive.get("drift", {}), checkpoint.sequences_seen)
            self._history.restore(checkpoint.progressive.get("history", {}))
        self._observe(
            Resumed(
                checkpoint.seq,
                checkpoint.sequences_seen,
                loaded.corrupt,
                created_unix=checkpoint.created_unix,
                progressive=self._progressive.scores(),
                gauges=self._tagger.gauges(),
                reached=reached,
            )
        )

    def _ordered(self, loaded: Loaded | None) -> tuple[Source, Callable[[], Mapping[str, Any]]]:
        """Give the source in the order that is configured, and what gives its state once it is open."""
        settings = self._config.source
        if settings.order == "arrival":
            return self._source, dict
        state = loaded.checkpoint.reading if loaded else {}
        merged = MergedSource(self._source, settings.quantum, state, settings.max_poll_records)
        return merged, merged.state

    def _open_source(
        self, source: Source, known: Mapping[TopicPartition, Position] | None
    ) -> Mapping[TopicPartition, Position]:
        positions = dict(source.start_positions() if known is None else known)
        for partition, count in source.open(positions).items():
            positions[partition] = Position(positions[partition].next_offset + count)
            self._observe(Gap(partition, count, lost=True))
        emit(_logger, logging.INFO, "reading_from", positions=in_words(positions))
        return positions

    def _build_keeper(
        self,
        stack: ExitStack,
        identity: StreamIdentity,
        reading: Mapping[str, Any],
        seq: int,
    ) -> Keeper:
        writer = BackgroundWriter(self._store)
        stack.callback(writer.close)
        settings = self._config.checkpoint
        schedule = CheckpointSchedule(settings.every_seconds, settings.every_records)
        lineage = Lineage(
            model_id=self._config.model,
            run_id=uuid.uuid4().hex,
            app_version=streamlearn.__version__,
            config_digest=self._digest,
            config=self._learned,
            identity=identity,
            reading=reading,
        )
        return Keeper(writer, schedule, lineage, seq, self._source.commit, self._observe)

    def _build_duplicates(self, loaded: Loaded | None) -> Duplicates:
        source = self._config.source
        # One batch is learned while the next is read.
        ahead = 2 * source.max_poll_records
        duplicates = Duplicates(source.deduplicate, source.deduplicate_window, ahead)
        if loaded:
            duplicates.restore(loaded.checkpoint.reading)
        return duplicates

    def _build_codec(self) -> RecordCodec:
        source = self._config.source
        return RecordCodec(source.content_type, True, source.max_tokens, source.max_record_bytes)

    def _observe(self, event: Event) -> None:
        for observer in self._observers:
            observer(event)

    def _keep_snapshot(self, event: Event) -> None:
        """Keep the checkpoint of before a change of the world, where that is wanted."""
        if isinstance(event, Learned) and event.drifts and SNAPSHOT in event.drifts[0].actions:
            try:
                kept = self._store.keep_newest(event.drifts[0].sequence)
            except CheckpointError as error:
                emit(_logger, logging.ERROR, "snapshot_failed", message=str(error))
            else:
                emit(_logger, logging.INFO, "snapshot_kept", path=str(kept))


def _noting(reached: ReadProgress) -> Observer:
    """Give what notes how far every poll that brought records has read."""

    def observe(event: Event) -> None:
        if isinstance(event, Polled) and event.records:
            positions = {tp: event.partitions[tp].position for tp in event.records if tp in event.partitions}
            reached.note(positions)

    return observe


def _open_store(config: Config) -> Store:
    settings = config.checkpoint
    retention = Retention(settings.keep, settings.keep_hourly, settings.keep_daily)
    return open_store(settings.directory, retention)
