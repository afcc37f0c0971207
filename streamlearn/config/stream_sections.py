"""The sections about the stream: where records come from, and where the bad ones go."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from streamlearn.config.section import FilePath, Names, Section


class SourceConfig(Section):
    """Which part of which topics is learned, and how its records are read."""

    topics: Annotated[Names, Field(min_length=1)] = Field(
        default=["streamlearn"], description="Topics to learn from."
    )
    partitions: list[Annotated[int, Field(ge=0)]] | None = Field(
        default=None, description="Partitions of each topic to read; all, also future ones, when not given."
    )
    start: Literal["earliest", "latest"] | datetime = Field(
        default="earliest",
        description="Where the first start begins: earliest, latest, or a time (ISO 8601).",
    )
    order: Literal["arrival", "deterministic"] = Field(
        default="arrival",
        description="How partitions are merged: as records come, or in turns that every replay repeats.",
    )
    quantum: int = Field(
        default=1000,
        ge=1,
        le=1 << 30,
        description="Offsets that a partition gives in its turn (order: deterministic).",
    )
    on_gap: Literal["fail", "continue"] = Field(
        default="fail", description="What to do when records were removed before they were learned."
    )
    content_type: Literal["auto", "json", "msgpack"] = Field(
        default="auto",
        description="Format of record values; auto goes by the content-type header, else JSON.",
    )
    max_poll_records: int = Field(
        default=2000, ge=1, le=1 << 20, description="The most records learned in one go."
    )
    max_record_bytes: int = Field(
        default=8 << 20, ge=1, le=1 << 30, description="Larger record values are rejected."
    )
    max_tokens: int = Field(default=10_000, ge=1, le=1 << 20, description="Longer sequences are rejected.")
    connect_timeout_seconds: float | None = Field(
        default=None, gt=0, description="How long to wait for a broker at the start; for ever when not given."
    )
    deduplicate: Literal["key", "id"] | None = Field(
        default=None, description="Pass over records whose key or id was learned lately; none when not given."
    )
    deduplicate_window: int = Field(
        default=100_000, ge=1, le=1 << 24, description="Records that `deduplicate` remembers."
    )
    stall_seconds: float = Field(
        default=60.0,
        gt=0,
        description="A partition that holds records and gives none for so long has the client made anew.",
    )
    group: str | None = Field(
        default=None,
        description="Consumer group that positions are published under, for lag tools; default: the model.",
    )


class DeadLettersConfig(Section):
    """What becomes of records that cannot be learned from."""

    policy: Literal["skip", "dead_letter", "stop"] = Field(
        default="skip",
        description="Count and skip a bad record, also keep it elsewhere, or stop before it.",
    )
    topic: str | None = Field(
        default=None,
        description="Topic that keeps bad records; a local file when not given.",
    )
    file: FilePath | None = Field(
        default=None,
        description="The local file of bad records; default: dead-letters.jsonl in the state directory.",
    )
    on_unavailable: Literal["stop", "spool"] = Field(
        default="stop", description="What to do where the topic takes no letter: stop, or use the file."
    )
    max_ratio: float | None = Field(
        default=None, ge=0, lt=1, description="Stop when more of the last `window` records are bad than this."
    )
    window: int = Field(default=1000, ge=1, le=1 << 30, description="Records that max_ratio looks back on.")

    @property
    def uses_file(self) -> bool:
        """Whether a bad record may have to go to the local file."""
        return self.policy == "dead_letter" and (self.topic is None or self.on_unavailable == "spool")
