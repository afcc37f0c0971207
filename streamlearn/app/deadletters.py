"""Dead letters after the fact: read from topic and file, and sent back once what was wrong is mended."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Self

from streamlearn.app.dead_letter_sink import spool_path
from streamlearn.checkpoint.reading import system_errors
from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError, StreamlearnError
from streamlearn.stream.deadletters.dead_letter import REPLAYED, DeadLetter
from streamlearn.stream.deadletters.spool import read_spool
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.producer import KafkaSink
from streamlearn.stream.kafka.read_settings import ReadSettings

_REPLAYED = "dead-letters.replayed"


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which dead letters; what is None does not matter.

    Attributes
    ----------
    reasons : any of these.
    partition, first, last : of the record's place, `last` included.
    since, until : timestamps of the record.
    """

    reasons: Sequence[str] = ()
    topic: str | None = None
    partition: int | None = None
    first: int | None = None
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, letter: DeadLetter) -> bool:
        """Tell whether a letter is wanted."""
        return (
            (not self.reasons or letter.reason in self.reasons)
            and self.topic in (None, letter.topic)
            and self.partition in (None, letter.partition)
            and _is_between(letter.offset, self.first, self.last)
            and _is_between(letter.timestamp, _milliseconds(self.since), _milliseconds(self.until))
        )


def read_letters(config: Config, wanted: LetterFilter) -> Iterator[DeadLetter]:
    """Give every dead letter once: those of the topic, then those of the file.

    Raises
    ------
    StreamlearnError : the topic or the file cannot be read.
    """
    seen: set[str] = set()
    spool = spool_path(config)
    for letter in chain(_from_topic(config), read_spool(spool) if spool else ()):
        # A crash may have sent one again.
        if letter in wanted and letter.place not in seen:
            seen.add(letter.place)
            yield letter


def _from_topic(config: Config) -> Iterator[DeadLetter]:
    if config.dead_letters.topic is None:
        return
    settings = ReadSettings([config.dead_letters.topic], connect_timeout_seconds=10.0)
    source = KafkaSource(config.kafka, settings)
    try:
        source.open(source.start_positions())
        while any(status.lag != 0 for status in source.status().values()):
            for record in source.poll(0.5):
                letter = DeadLetter.from_record(record)
                if letter is not None:
                    yield letter
    finally:
        source.close()


class Replayer:
    """Sends records back to where they were, to be learned; each once, unless a crash comes between.

    What was sent is noted in a file beside that of dead letters, so that a second call sends the others only.

    Parameters
    ----------
    again : send also what was sent before.

    Raises
    ------
    ConfigError : there is no such file.
    """

    def __init__(self, config: Config, *, again: bool) -> None:
        self._config = config
        spool = spool_path(config)
        if spool is None:
            raise ConfigError(
                "dead_letters.file: wanted, since checkpoint.directory is a URL; what is replayed is noted "
                "beside it"
            )
        self._path = spool.with_name(_REPLAYED)
        lines = self._path.read_text("utf-8").splitlines() if self._path.exists() else []
        self._sent: set[str] = set() if again else set(lines)
        self._sinks: dict[str, KafkaSink] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for sink in self._sinks.values():
            sink.close()

    def unsent(self, letters: Iterable[DeadLetter]) -> list[DeadLetter]:
        """Give those that were not sent before."""
        return [letter for letter in letters if letter.place not in self._sent]

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Send, wait until the broker has them all, and note it.

        Raises
        ------
        StreamlearnError : some could not be sent; those that were are noted.
        """
        delivered: list[str] = []
        errors: list[StreamlearnError] = []
        for letter in letters:
            self._sink(letter.topic).send(
                letter.key,
                letter.value,
                [*letter.headers, (REPLAYED, letter.place.encode())],
                partial(self._settled, letter.place, delivered, errors),
                letter.partition,
            )
        for sink in self._sinks.values():
            sink.flush()
        self._note(delivered)
        if errors:
            raise errors[0]

    @staticmethod
    def _settled(
        place: str, delivered: list[str], errors: list[StreamlearnError], error: StreamlearnError | None
    ) -> None:
        if error is None:
            delivered.append(place)
        else:
            errors.append(error)

    def _sink(self, topic: str) -> KafkaSink:
        if topic not in self._sinks:
            self._sinks[topic] = KafkaSink(self._config.kafka, topic, connect_timeout_seconds=10.0)
        return self._sinks[topic]

    def _note(self, places: Sequence[str]) -> None:
        with system_errors(str(self._path)), self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{place}\n" for place in places)
            file.flush()
            os.fsync(file.fileno())
        self._sent.update(places)


def _is_between(value: int, first: int | None, last: int | None) -> bool:
    return (first is None or value >= first) and (last is None or value <= last)


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
