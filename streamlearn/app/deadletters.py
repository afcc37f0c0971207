"""Dead letters, read from their topic and file, and sent back once the cause is fixed."""

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
from streamlearn.errors import BrokerUnavailableError, ConfigError, StreamlearnError, UsageError
from streamlearn.stream.deadletters.dead_letter import REPLAYED, DeadLetter
from streamlearn.stream.deadletters.spool import read_spool
from streamlearn.stream.kafka.consumer import KafkaSource
from streamlearn.stream.kafka.producer import KafkaSink
from streamlearn.stream.kafka.read_settings import ReadSettings

_REPLAYED = "dead-letters.replayed"


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Chooses dead letters; a criterion that is None does not restrict them.

    Attributes
    ----------
    reasons : reasons of rejection, any of which fits; all if empty.
    topic, partition : of the record.
    first, last : offsets of the record, both included.
    since, until : timestamps of the record, both included.
    """

    reasons: Sequence[str] = ()
    topic: str | None = None
    partition: int | None = None
    first: int | None = None
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __contains__(self, letter: DeadLetter) -> bool:
        """Return whether a dead letter is chosen."""
        return (
            (not self.reasons or letter.reason in self.reasons)
            and self.topic in (None, letter.topic)
            and self.partition in (None, letter.partition)
            and _is_between(letter.offset, self.first, self.last)
            and _is_between(letter.timestamp, _milliseconds(self.since), _milliseconds(self.until))
        )


def read_dead_letters(config: Config, wanted: DeadLetterFilter) -> Iterator[DeadLetter]:
    """Yield every chosen dead letter once: those of the topic, then those of the file.

    Raises
    ------
    StreamlearnError : the topic or the file cannot be read.
    """
    seen: set[str] = set()
    spool = spool_path(config)
    for letter in chain(_from_topic(config), read_spool(spool) if spool else ()):
        # After a crash, a record may have been sent twice.
        if letter in wanted and letter.place not in seen:
            seen.add(letter.place)
            yield letter


def find_dead_letter(config: Config, place: str) -> DeadLetter:
    """Return the dead letter of the record at a place such as ``orders[3]@1841``.

    Raises
    ------
    UsageError : there is none.
    StreamlearnError : as `read_dead_letters`.
    """
    for letter in read_dead_letters(config, DeadLetterFilter()):
        if letter.place == place:
            return letter
    raise UsageError(f"{place}: no such dead letter; list them with `streamlearn deadletters list`")


def _from_topic(config: Config) -> Iterator[DeadLetter]:
    if config.dead_letters.topic is None:
        return
    settings = ReadSettings([config.dead_letters.topic], connect_timeout_seconds=10.0)
    source = KafkaSource(config.kafka, settings)
    try:
        source.open(source.start_positions())
        without = [str(tp) for tp, status in source.status().items() if not status.has_leader]
        if without:
            raise BrokerUnavailableError(f"no broker leads {', '.join(without)}: try again later")
        while any(status.lag != 0 for status in source.status().values()):
            for record in source.poll(0.5):
                letter = DeadLetter.from_record(record)
                if letter is not None:
                    yield letter
    finally:
        source.close()


class Replayer:
    """Sends records back to their partitions; each once, unless a crash comes in between.

    What was sent is noted in a file next to that of the dead letters, so that a second call sends the rest.

    Parameters
    ----------
    again : also send what was sent before.

    Raises
    ------
    ConfigError : the state is remote and no local file is configured.
    """

    def __init__(self, config: Config, *, again: bool) -> None:
        self._config = config
        spool = spool_path(config)
        if spool is None:
            raise ConfigError(
                "dead_letters.file: required when checkpoint.directory is a URL; what was replayed is noted "
                "in a file next to it"
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
        """Return those that were not sent before."""
        return [letter for letter in letters if letter.place not in self._sent]

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Send, wait for the acknowledgements, and note what was sent.

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
