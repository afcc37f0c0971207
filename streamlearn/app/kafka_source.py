"""The Kafka source that a configuration describes."""

from collections.abc import Callable

from streamlearn.choices import RestartReason
from streamlearn.config.schema import Config
from streamlearn.data import TopicPartition
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.read_settings import ReadSettings


def build_source(
    config: Config,
    *,
    connect_timeout_seconds: float | None,
    stopping: Callable[[], bool] = lambda: False,
    on_lost: Callable[[TopicPartition, int], None] = lambda *_: None,
    on_restart: Callable[[RestartReason], None] = lambda _: None,
) -> KafkaSource:
    """Return a source that is not connected yet.

    Raises
    ------
    ConfigError : the Kafka client rejects its settings.
    """
    source = config.source
    settings = ReadSettings(
        source.topics,
        partitions=source.partitions,
        # The deterministic order must know all partitions that take turns.
        follow=source.order == "arrival",
        start=source.start,
        group_id=source.group if source.group is not None else f"streamlearn-{config.model}",
        on_gap=source.on_gap,
        max_poll_records=source.max_poll_records,
        connect_timeout_seconds=connect_timeout_seconds,
        stall_seconds=source.stall_seconds,
    )
    return KafkaSource(config.kafka, settings, stopping=stopping, on_lost=on_lost, on_restart=on_restart)
