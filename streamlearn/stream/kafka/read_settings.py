"""What to read of a cluster, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer

from streamlearn.choices import OnGap
from streamlearn.stream.kafka.client_values import require_topic_names
from streamlearn.stream.kafka.connection import require_accepted
from streamlearn.stream.kafka.known_offsets import Start
from streamlearn.stream.kafka.settings import settings_for


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Which partitions a source reads, from where, and its limits.

    Attributes
    ----------
    topics : names of the topics.
    partitions : partitions of each topic to read; None reads all.
    follow : whether partitions that are added later are read, too, if all are read.
    start : where to begin without positions: "earliest", "latest" or an aware datetime.
    group_id : consumer group to publish offsets under, for lag monitoring; "" publishes none.
    on_gap : whether records that were deleted before they were read are an error ("fail") or not.
    max_poll_records : maximum number of records per poll.
    connect_timeout_seconds : how long to wait for a broker before `poll`; None waits indefinitely.
    silence_seconds : how long polls may be unanswered before `connected` becomes False.
    discovery_seconds : interval of checks for new and deleted partitions.
    stall_seconds : how long a partition with unread records may return none before the client is recreated.
    """

    topics: Sequence[str]
    partitions: Sequence[int] | None = None
    follow: bool = True
    start: Start = "earliest"
    group_id: str = ""
    on_gap: OnGap = "fail"
    max_poll_records: int = 5000
    connect_timeout_seconds: float | None = None
    silence_seconds: float = 3.0
    discovery_seconds: float = 5.0
    stall_seconds: float = 60.0

    def can_wait(self, start: Start) -> bool:
        """Return whether a partition that starts there may be left out until its leader answers.

        Later its beginning is still the same place, but the end is another one. With a fixed set of
        partitions, the order of the stream depends on where each of them begins.
        """
        return self.follow and start == "earliest"


def consumer_settings(client: Mapping[str, Any], settings: ReadSettings) -> dict[str, Any]:
    """Return the settings of the consumer: the given ones, and those that its guarantees depend on.

    Raises
    ------
    ConfigError
    """
    defaults = {
        "isolation_level": "read_committed",
        "fetch_max_wait_ms": 500,
        "max_partition_fetch_bytes": 8 << 20,
        # By default the client may take half a minute to reconnect after a long outage.
        "reconnect_backoff_max_ms": 2000,
        "metadata_max_age_ms": max(100, int(settings.discovery_seconds * 1000)),
    }
    ours = {
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "allow_auto_create_topics": False,
        "max_poll_records": settings.max_poll_records,
    }
    require_topic_names(settings.topics)
    found = defaults | settings_for(KafkaConsumer, client, ours)
    require_accepted(KafkaConsumer, found)
    return found
