"""Bad records of the daemon: how many are tolerated, and where dead letters go."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import streamlearn
from streamlearn.config.schema import Config
from streamlearn.daemon.bad_records import BadRecordSink, NoSink, Tolerance
from streamlearn.data import Record
from streamlearn.errors import ConfigError, StreamlearnError
from streamlearn.events import DeadLettered, Observer, Rejected
from streamlearn.stream.deadletters.dead_letter import DeadLetter
from streamlearn.stream.deadletters.outbox import Outbox
from streamlearn.stream.deadletters.spool import Spool
from streamlearn.stream.kafka.client_values import require_topic_names
from streamlearn.stream.kafka.producer import KafkaSink, producer_settings
from streamlearn.telemetry.logs import emit

_logger = logging.getLogger(__name__)

_SPOOL = "dead-letters.jsonl"


def build_tolerance(config: Config) -> Tolerance:
    """Return the configured limit of bad records."""
    settings = config.dead_letters
    if settings.policy == "stop":
        return Tolerance(0.0, 1)
    return Tolerance(settings.max_ratio, settings.window)


def build_bad_record_sink(
    config: Config, stack: ExitStack, stopping: Callable[[], bool], observe: Observer
) -> BadRecordSink:
    """Return what takes bad records; `stack` closes it.

    Raises
    ------
    StreamError, BrokerUnavailableError, AuthenticationError : the topic cannot be written, and
        dead_letters.on_unavailable does not allow the file instead.
    """
    settings = config.dead_letters
    if settings.policy != "dead_letter":
        return NoSink()
    path = spool_path(config)
    spool = None
    if path and settings.uses_file:
        spool = Spool(path)
    sink = _open_topic(config, stopping, is_needed=spool is None) if settings.topic else None
    if sink:
        stack.callback(sink.close)
    return DeadLetterSink(
        Outbox(sink, spool, lambda outcome, count: observe(DeadLettered(outcome, count))), config.model
    )


def require_places(config: Config) -> None:
    """Return if dead letters can be written where they are configured to go, as far as no broker is needed.

    Raises
    ------
    ConfigError : the directory of the file is missing, or the client rejects its settings.
    """
    settings = config.dead_letters
    if settings.policy != "dead_letter":
        return
    folder, state = settings.file and settings.file.parent, config.checkpoint.local
    # The state directory is created at the first start.
    if settings.uses_file and folder and not folder.is_dir() and folder != state:
        raise ConfigError(f"dead_letters.file: {folder}: no such directory; create it")
    if settings.topic is not None:
        require_topic_names([settings.topic])
        producer_settings(config.kafka)


def spool_path(config: Config) -> Path | None:
    """Return the local file of dead letters; None where the state is remote and no file is configured."""
    state = config.checkpoint.local
    if config.dead_letters.file or state is None:
        return config.dead_letters.file
    return state / _SPOOL


def _open_topic(config: Config, stopping: Callable[[], bool], *, is_needed: bool) -> KafkaSink | None:
    try:
        return KafkaSink(
            config.kafka,
            config.dead_letters.topic or "",
            connect_timeout_seconds=config.source.connect_timeout_seconds if is_needed else 10.0,
            stopping=stopping,
        )
    except StreamlearnError as error:
        if is_needed or isinstance(error, ConfigError):
            raise
        emit(_logger, logging.WARNING, "dead_letter_topic_unavailable", error=str(error), instead="spool")
        return None


class DeadLetterSink:
    """Turns bad records into dead letters of a model."""

    def __init__(self, outbox: Outbox, model: str) -> None:
        self._outbox = outbox
        self._model = model
        self.settle = outbox.settle

    def send(self, record: Record, why: Rejected) -> None:
        """Begin to deliver one."""
        version = streamlearn.__version__
        self._outbox.send(DeadLetter.of(record, why.reason, why.message, self._model, version))
