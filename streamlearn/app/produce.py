"""Labelled sequences from files, sent to a topic."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from streamlearn.app.stop import Interrupt
from streamlearn.choices import ContentType
from streamlearn.config.load import environment, load
from streamlearn.config.secrets import from_files
from streamlearn.config.yaml_text import parse
from streamlearn.corpus.example_reader import ExampleReader
from streamlearn.data import Example
from streamlearn.errors import ConfigError, RecordError, UsageError
from streamlearn.stream.feeder import KEY_FROM_ID, Feeder, RateLimit
from streamlearn.stream.kafka.producer import KafkaSink, create_topic


@dataclass(frozen=True, slots=True)
class ProduceOptions:
    """What is sent, where and how fast.

    Attributes
    ----------
    content_type, key : as in `Feeder`.
    repeat : how many times everything is sent.
    rate : sequences per second at most; None for as many as possible.
    limit : stop after this many sequences; None sends all.
    partitions : of the topic, which is created if it is missing; None never creates it.
    timeout_seconds : how long to wait for a broker, and at the end for acknowledgements.
    """

    topic: str
    content_type: ContentType = "json"
    key: str = KEY_FROM_ID
    repeat: int = 1
    rate: float | None = None
    limit: int | None = None
    partitions: int | None = None
    timeout_seconds: float = 30.0


class ProduceRun:
    """Sends the sequences of files; a rejected one is counted by the reader and does not stop the others.

    Parameters
    ----------
    client : settings of the Kafka client.

    Raises
    ------
    UsageError : standard input would have to be read more than once.
    """

    def __init__(self, reader: ExampleReader, client: Mapping[str, Any], options: ProduceOptions) -> None:
        if options.repeat > 1 and reader.has_stdin:
            raise UsageError("--repeat needs files: standard input can be read only once")
        self._reader = reader
        self._client = client
        self._options = options
        self._interrupt = Interrupt()
        self._sink: KafkaSink | None = None
        self._feeder: Feeder | None = None
        self._seconds = 0.0

    @property
    def sequences(self) -> int:
        """How many were sent."""
        return self._feeder.sequences if self._feeder else 0

    @property
    def done(self) -> int:
        """How much of `total` is done: sequences if there is a limit, else bytes of the files."""
        return self._reader.bytes_read if self._options.limit is None else self.sequences

    @property
    def total(self) -> int | None:
        """How much there is to do, in the unit of `done`; None if that cannot be known."""
        if self._options.limit is not None:
            return self._options.limit
        return self._reader.total_bytes and self._options.repeat * self._reader.total_bytes

    def send(self, on_sent: Callable[[], None]) -> None:
        """Send everything and wait for acknowledgements; Ctrl-C or SIGTERM stop after the current sequence.

        Parameters
        ----------
        on_sent : called after each sequence.

        Raises
        ------
        StreamlearnError : no broker answers, the topic cannot be written, or a sequence has no key.
        """
        options, begin = self._options, time.monotonic()
        with self._interrupt as interrupt:
            patience: dict[str, Any] = {
                "connect_timeout_seconds": options.timeout_seconds,
                "stopping": self._is_stopped,
            }
            if options.partitions is not None:
                create_topic(self._client, options.topic, options.partitions, **patience)
            silence = options.timeout_seconds
            sink = self._sink = KafkaSink(self._client, options.topic, silence_seconds=silence, **patience)
            feeder = self._feeder = Feeder(sink, options.content_type, options.key)
            try:
                pace = RateLimit(options.rate, sleep=interrupt.sleep)
                feeder.feed(interrupt.until(self._examples()), pace, on_sent)
                sink.flush(options.timeout_seconds)
            except UsageError:
                # What came before the mistake is still delivered.
                sink.flush(options.timeout_seconds)
                raise
            finally:
                sink.close()
                self._seconds = time.monotonic() - begin

    def summary(self) -> str:
        """Describe in one line what was sent; empty if no broker was reached."""
        if self._feeder is None or self._sink is None:
            return ""
        feeder, reader = self._feeder, self._reader
        rate = feeder.sequences / max(self._seconds, 1e-9)
        parts = [
            f"sent {feeder.sequences:,} sequences, {feeder.tokens:,} tokens, {feeder.value_bytes:,} bytes"
            f" to {self._options.topic} in {self._seconds:.1f} s ({rate:,.0f} sequences/s)"
        ]
        if self._sink.failed:
            parts.append(f"not delivered: {self._sink.failed:,}")
        if reader.repaired:
            parts.append(f"repaired: {_counts(reader.repaired)}")
        if reader.refused:
            parts.append(f"rejected: {reader.refused.total():,} sequences ({_counts(reader.refused)})")
        return "; ".join(parts)

    def exit_code(self, strict: bool) -> int:
        """Return the exit code after `send`: whether it was interrupted, or sequences were rejected.

        Parameters
        ----------
        strict : any rejected sequence counts, not only if nothing was sent.

        Raises
        ------
        StreamlearnError : a record was not delivered.
        """
        if self._sink is not None and self._sink.first_error is not None:
            raise self._sink.first_error
        if self._interrupt.stopped:
            return self._interrupt.exit_code
        return RecordError.exit_code if self._reader.refused and (strict or not self.sequences) else 0

    def _is_stopped(self) -> bool:
        return self._interrupt.stopped

    def _examples(self) -> Iterator[Example]:
        passes = (located.example for _ in range(self._options.repeat) for located in self._reader)
        return islice(passes, self._options.limit)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where sequences are sent, and the names of their columns.

    Attributes
    ----------
    topic : its name.
    client : settings of the Kafka client.
    columns : names of the columns of a column file; none if the file decides.
    """

    topic: str
    client: dict[str, Any]
    columns: Sequence[str]

    @classmethod
    def of(
        cls, path: Path | None, topic: str | None, bootstrap_servers: str | None, pairs: Sequence[str]
    ) -> "Destination":
        """Return what a configuration file says, if there is one, overridden by what is given.

        Parameters
        ----------
        pairs : settings of the client, ``name=value`` with a YAML value.

        Raises
        ------
        ConfigError : the configuration is invalid.
        UsageError : there is no topic, or a pair is malformed.
        """
        config = load(path) if path else None
        if topic is None:
            if config is None:
                raise UsageError("wanted a topic: --topic, or --config with source.topics")
            topic = config.source.topics[0]
        base = (
            config.kafka
            if config
            else {"bootstrap_servers": "localhost:9092"} | environment().get("kafka", {})
        )
        servers = {"bootstrap_servers": bootstrap_servers} if bootstrap_servers else {}
        client = _with_pairs(base | servers, pairs)
        return cls(topic, client, config.features.columns if config else ())


def _with_pairs(settings: dict[str, Any], pairs: Sequence[str]) -> dict[str, Any]:
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--kafka {pair!r}: wanted name=value")
        try:
            settings[name.strip()] = parse(value, f"--kafka {name}")
        except ConfigError as error:
            raise UsageError(str(error)) from None
    return from_files(settings, "--kafka", Path())


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
