"""The parts of a daemon that need nothing but its configuration: what cannot be built is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.dead_letter_sink import require_places
from streamlearn.app.drift_watch import build_watch
from streamlearn.app.kafka_source import build_source
from streamlearn.checkpoint.location import open_store
from streamlearn.checkpoint.retention import Retention
from streamlearn.checkpoint.store import Store
from streamlearn.choices import RestartReason
from streamlearn.config.schema import Config
from streamlearn.data import TopicPartition
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.drift import DriftWatch
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.telemetry.access import Access


@dataclass(frozen=True, slots=True)
class Parts:
    """What `run` and `check` build of a configuration; nothing is read, connected or written yet."""

    tagger: Tagger
    watch: DriftWatch
    store: Store
    source: KafkaSource
    access: Access


def build_parts(
    config: Config,
    *,
    stopping: Callable[[], bool] = lambda: False,
    on_lost: Callable[[TopicPartition, int], None] = lambda *_: None,
    on_restart: Callable[[RestartReason], None] = lambda _: None,
) -> Parts:
    """Build what can be built without a broker; the parameters are those of `build_source`.

    Raises
    ------
    ConfigError : anything that a daemon would refuse before its first record, whatever the broker says.
    """
    tagger = build_tagger(config)
    watch = build_watch(config, tagger)
    checkpoint, served = config.checkpoint, config.metrics
    retention = Retention(checkpoint.keep, checkpoint.keep_hourly, checkpoint.keep_daily)
    store = open_store(checkpoint.directory, retention)
    source = build_source(
        config,
        connect_timeout_seconds=config.source.connect_timeout_seconds,
        stopping=stopping,
        on_lost=on_lost,
        on_restart=on_restart,
    )
    require_places(config)
    access = Access(served.tls_certificate, served.tls_key, served.username, served.password)
    # Reads the certificate.
    access.context()
    return Parts(tagger, watch, store, source, access)
