"""What to read of a cluster, and how."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamlearn.choices import OnGap
from streamlearn.stream.kafka.positions import Start


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
