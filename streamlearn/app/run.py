"""The daemon: everything that `streamlearn run` runs, wired."""

import gc
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import streamlearn
from streamlearn.app.build_tagger import warm_up
from streamlearn.app.compatibility import require_same_model, require_same_stream
from streamlearn.app.dead_letter_sink import build_bad_record_sink, build_tolerance
from streamlearn.app.drift_watch import SNAPSHOT
from streamlearn.app.label_findings import expected_scheme
from streamlearn.app.parts import build_parts
from streamlearn.app.reload import LiveSettings
from streamlearn.checkpoint.read_progress import ReadProgress
from streamlearn.checkpoint.reading import Loaded
from streamlearn.checkpoint.schedule import CheckpointSchedule
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.config.learned_part import digest, learned_part
from streamlearn.config.schema import Config
from streamlearn.daemon.catch_up import CatchUp
from streamlearn.daemon.checkpointer import Checkpointer, RunInfo
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.intake import BatchReader
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.loop import Loop
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Position, StreamIdentity, TopicPartition, format_positions
from streamlearn.errors import BrokerUnavailableError, CheckpointError, ConfigError, TelemetryError
from streamlearn.events import (
    Configured,
    ConsumerRestarted,
    Event,
    Gap,
    Learned,
    Observer,
    Polled,
    ReloadFailed,
    StateChanged,
)
from streamlearn.monitor.diagnosis import Diagnosis
from streamlearn.stream.deterministic_order import MergedSource
from streamlearn.stream.record_codec import RecordCodec
from streamlearn.stream.source import Source
from streamlearn.telemetry.access import Access
from streamlearn.telemetry.current import Current, FreeSpace
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
    """Learns from Kafka until a stop is requested.

    Parameters
    ----------
    stopping : asked after every batch, and while waiting for a broker, whether a stop was requested.
    observers : called with every event, besides metrics, health and log.
    at_once : returns a context in which a requested stop may end the process immediately.
    reread : asked after every batch for the configuration to change to; None if there is no change.
    run_id : of this run, in checkpoints; default a new one.
    until_caught_up : also stop when everything is learned that was there at the start.

    Attributes
    ----------
    status : what the status page shows.

    Raises
    ------
    ConfigError, TelemetryError : wrong settings or a port in use, before anything is consumed.
    """

    def __init__(
        self,
        config: Config,
        stopping: Callable[[], bool],
        observers: Iterable[Observer] = (),
        at_once: Callable[[], AbstractContextManager[None]] = nullcontext,
        reread: Callable[[], Config | None] = lambda: None,
        run_id: str = "",
        *,
        until_caught_up: bool = False,
    ) -> None:
        self._config = config
        self._stopping = stopping
        self._at_once = at_once
        self._reread = reread
        self._run_id = run_id or uuid.uuid4().hex
        self._until_caught_up = until_caught_up
        self._learned = learned_part(config)
        self._digest = digest(self._learned)
        self._schedule = CheckpointSchedule(config.checkpoint.every_seconds, config.checkpoint.every_records)
        parts = build_parts(
            config,
            stopping=stopping,
            on_lost=lambda partition, count: self._observe(Gap(partition, count, lost=True)),
            on_restart=lambda reason: self._observe(ConsumerRestarted(reason)),
        )
        self._state = LearningState(
            parts.tagger, parts.watch, _build_duplicates(config), build_tolerance(config)
        )
        self._live = LiveSettings(config, self._state, self._schedule, lambda event: self._observe(event))
        self._store = parts.store
        self._source: Source = parts.source
        self._server, telemetry = self._build_server(parts.access)
        self._observers: tuple[Observer, ...] = (
            *telemetry, EventLog(), Supervisor(), self._state.history, self._keep_snapshot,
            Diagnosis(expected_scheme(parts.tagger, config.labels), self._observe), *observers,
        )  # fmt: skip

    def _build_server(self, access: Access) -> tuple[Server, tuple[Observer, ...]]:
        """Return the HTTP server and what it serves, which observes events."""
        config, history = self._config, self._state.history
        version, model, learner = streamlearn.__version__, config.model, config.learner.kind
        current = Current(self._state.progressive.last_hour, FreeSpace(self._store.free_bytes))
        metrics = Metrics(version=version, model=model, learner=learner, digest=self._digest, current=current)
        health = Health(config.metrics.stall_seconds)
        self.status = Status(
            {"version": version, "model": model, "learner": learner},
            lambda: history.curve(CURVE_POINTS),
            lambda: history.drifts,
            current,
        )
        served = config.metrics
        try:
            server = Server(served.host, served.port, metrics.registry, health, self.status.snapshot, access)
        except TelemetryError:
            # A second daemon of one configuration finds its port in use: report the locked state instead.
            self._store.probe()
            raise
        return server, (metrics, health, self.status)

    @property
    def url(self) -> str:
        """Where the metrics are served."""
        return self._server.url

    def run(self) -> None:
        """Learn until a stop is requested; whatever happens, the newest checkpoint stays intact.

        Raises
        ------
        StreamlearnError : the cause, which decides the exit code.
        """
        try:
            with ExitStack() as stack:
                stack.enter_context(self._server)
                emit(_logger, logging.INFO, "metrics", url=f"{self.url}/metrics")
                self._observe(Configured(self._config.checkpoint.every_seconds))
                loop, caught_up = self._prepare(stack)
                loop.run(lambda: self._must_stop() or caught_up())
                emit(_logger, logging.INFO, "stopped_at", positions=format_positions(loop.positions))
        except BaseException as error:
            # A stop while waiting for a broker is not a failure.
            if not (isinstance(error, BrokerUnavailableError) and self._stopping()):
                self._observe(StateChanged("failed"))
                raise
        self._observe(StateChanged("stopped"))

    def _must_stop(self) -> bool:
        """Change settings if asked to, and return whether a stop was requested."""
        try:
            config = self._reread()
            if config is not None:
                self._live.change(config)
        except ConfigError as error:
            self._observe(ReloadFailed(str(error)))
        return self._stopping()

    def _prepare(self, stack: ExitStack) -> tuple[Loop, Callable[[], bool]]:
        """Return the loop, and whether it may end because it has caught up."""
        loaded = self._load(stack)
        self._observe(StateChanged("starting"))
        with self._at_once():
            warm_up(self._config, lambda text: emit(_logger, logging.INFO, text))
        progress = ReadProgress(self._config.checkpoint.local)
        if loaded:
            self._observe(self._state.resume(loaded, progress.before))
        self._observers += (_noting(progress),)
        stack.callback(self._source.close)
        source, order = self._ordered(loaded)
        identity = self._source.identity()
        if loaded:
            require_same_stream(loaded.checkpoint.identity, identity)
        positions = self._open_source(source, loaded.checkpoint.positions if loaded else None)
        # The first copy allocates its memory and is slow; here nothing waits for it.
        self._state.snapshot(positions)
        # What exists now stays until the end. Left to the garbage collector, it would be traversed again
        # and again: a pause of a tenth of a second each time, a tenth of the loop's time in total.
        gc.freeze()
        pipeline = stack.enter_context(Pipeline(self._state))
        seq = loaded.checkpoint.seq if loaded else -1
        run = self._describe_run(identity, order(), seq)
        checkpointer = self._build_checkpointer(stack, run)
        sink = build_bad_record_sink(self._config, stack, self._stopping, self._observe)
        caught_up = CatchUp(source) if self._until_caught_up else lambda: False
        reader = self._build_reader()
        return Loop(source, positions, reader, sink, pipeline, checkpointer, self._observe), caught_up

    def _load(self, stack: ExitStack) -> Loaded | None:
        """Lock the state and return its newest checkpoint, if it can be continued."""
        self._store.make()
        stack.enter_context(self._store.lock())
        loaded = self._store.load_newest()
        if loaded:
            require_same_model(loaded, self._config)
        return loaded

    def _ordered(self, loaded: Loaded | None) -> tuple[Source, Callable[[], Mapping[str, Any]]]:
        """Return the source in the configured order, and a function returning its state once it is open."""
        settings = self._config.source
        if settings.order == "arrival":
            return self._source, dict
        state = loaded.checkpoint.reading if loaded else {}
        merged = MergedSource(self._source, settings.quantum, state, settings.max_poll_records)
        return merged, merged.state

    def _open_source(
        self, source: Source, known: Mapping[TopicPartition, Position] | None
    ) -> Mapping[TopicPartition, Position]:
        # A model that was learned from files has no positions.
        positions = dict(known or source.start_positions())
        for partition, count in source.open(positions).items():
            positions[partition] = Position(positions[partition].next_offset + count)
            self._observe(Gap(partition, count, lost=True))
        emit(_logger, logging.INFO, "reading_from", positions=format_positions(positions))
        return positions

    def _describe_run(
        self, identity: StreamIdentity, reading: Mapping[str, Any], resumed_seq: int
    ) -> RunInfo:
        return RunInfo(
            model_id=self._config.model,
            run_id=self._run_id,
            app_version=streamlearn.__version__,
            config_digest=self._digest,
            config=self._learned,
            identity=identity,
            reading=reading,
            resumed_seq=resumed_seq,
        )

    def _build_checkpointer(self, stack: ExitStack, run: RunInfo) -> Checkpointer:
        writer = BackgroundWriter(self._store)
        stack.callback(writer.close)
        return Checkpointer(writer, self._schedule, self._state, run, self._source.commit, self._observe)

    def _build_reader(self) -> BatchReader:
        source, state = self._config.source, self._state
        codec = RecordCodec(source.content_type, True, source.max_tokens, source.max_record_bytes)
        return BatchReader(codec, state.tagger, state.duplicates, state.tolerance)

    def _observe(self, event: Event) -> None:
        for observer in self._observers:
            observer(event)

    def _keep_snapshot(self, event: Event) -> None:
        """Keep the checkpoint from before a drift, if drift.actions says so."""
        if isinstance(event, Learned) and event.drifts and SNAPSHOT in event.drifts[0].actions:
            try:
                kept = self._store.keep_newest(event.drifts[0].sequence)
            except CheckpointError as error:
                emit(_logger, logging.ERROR, "snapshot_failed", message=str(error))
            else:
                emit(_logger, logging.INFO, "snapshot_kept", path=str(kept))


def _noting(progress: ReadProgress) -> Observer:
    """Return an observer that notes how far every poll with records has read."""

    def observe(event: Event) -> None:
        if isinstance(event, Polled) and event.records:
            positions = {tp: event.partitions[tp].position for tp in event.records if tp in event.partitions}
            progress.note(positions)

    return observe


def _build_duplicates(config: Config) -> Duplicates:
    source = config.source
    # One batch is learned while the next is read.
    return Duplicates(source.deduplicate, source.deduplicate_window, 2 * source.max_poll_records)
