"""The configuration sections about the stream: where records come from, and where bad ones go."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from streamlearn.choices import DeduplicateBy, OnGap, StartAt
from streamlearn.config.section import Count, FilePath, Names, Section


class SourceConfig(Section):
    """Which topics and partitions to learn from, and how to read their records."""

    topics: Annotated[Names, Field(min_length=1)] = Field(
        default=["streamlearn"], description="Kafka topics to learn from."
    )
    partitions: list[Annotated[int, Field(ge=0)]] | None = Field(
        default=None,
        description="Partitions of each topic to read. By default all, including ones added later.",
    )
    start: StartAt | datetime = Field(
        default="earliest",
        description="Where to begin without a checkpoint: earliest, latest, or a time (ISO 8601).",
    )
    order: Literal["arrival", "deterministic"] = Field(
        default="arrival",
        description="How to merge partitions: as records arrive, or in a deterministic order that any "
        "replay reproduces.",
    )
    quantum: Count = Field(
        default=1000,
        description="With `order: deterministic`: offsets read from a partition before the next one's turn.",
    )
    on_gap: OnGap = Field(
        default="fail",
        description="Records were deleted (retention) before they were learned: stop with an error, or "
        "continue after the gap.",
    )
    content_type: Literal["auto", "json", "msgpack"] = Field(
        default="auto",
        description="Format of record values. auto: by the content-type header, else by the first byte.",
    )
    max_poll_records: int = Field(
        default=2000,
        ge=1,
        le=1 << 20,
        description="Maximum number of records per poll, which are learned as one batch.",
    )
    max_record_bytes: Count = Field(
        default=8 << 20,
        description="Maximum size of a record value in bytes; larger ones are rejected.",
    )
    max_tokens: int = Field(
        default=10_000,
        ge=1,
        le=1 << 20,
        description="Maximum number of tokens in a sequence; longer ones are rejected.",
    )
    connect_timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        description="Stop when no broker answers for this many seconds at startup. By default wait "
        "indefinitely.",
    )
    deduplicate: DeduplicateBy | None = Field(
        default=None,
        description="Skip records whose key or id is among the last `deduplicate_window` learned. Off by "
        "default.",
    )
    deduplicate_window: int = Field(
        default=100_000,
        ge=1,
        le=1 << 24,
        description="Number of recent keys or ids that `deduplicate` remembers.",
    )
    stall_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Recreate the Kafka client when a partition with unread records returns none for this "
        "many seconds.",
    )
    group: str | None = Field(
        default=None,
        description="Consumer group to publish offsets under, for lag tools; '' for none. Default: "
        "streamlearn-MODEL.",
    )


class DeadLettersConfig(Section):
    """What to do with records that cannot be learned from."""

    policy: Literal["skip", "dead_letter", "stop"] = Field(
        default="skip",
        description="A bad record: skip it, skip it and keep a copy (dead_letter), or stop before it. It is "
        "always counted.",
    )
    topic: str | None = Field(
        default=None, description="Dead letter topic. Without it, bad records are kept in the local `file`."
    )
    file: FilePath | None = Field(
        default=None,
        description="Local file for bad records. Default: dead-letters.jsonl in the state directory.",
    )
    on_unavailable: Literal["stop", "spool"] = Field(
        default="stop",
        description="When the dead letter topic cannot be written: stop, or use the local `file` (spool).",
    )
    max_ratio: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="Stop when the ratio of bad records among the last `window` exceeds this. Off by "
        "default.",
    )
    window: Count = Field(
        default=1000,
        description="Number of recent records that `max_ratio` is computed over.",
    )

    @property
    def uses_file(self) -> bool:
        """Whether bad records may be written to the local file."""
        return self.policy == "dead_letter" and (self.topic is None or self.on_unavailable == "spool")
