"""The demo's producer: a thread that feeds generated sequences into the topic."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from streamlearn.data import Example
from streamlearn.errors import BrokerUnavailableError
from streamlearn.stream.feeder import NO_KEY, Feeder, RateLimit
from streamlearn.stream.kafka.producer import KafkaSink

# Shorter waits are skipped and come due together: a thousand wake-ups a second would cost more than records.
_LEAST_WAIT_SECONDS = 0.02


class Feed:
    """Feeds for as long as a ``with`` block lasts, or until `count` sequences are sent.

    Parameters
    ----------
    client : settings of the Kafka client.
    rate : sequences a second; None is as fast as it goes.
    count : how many sequences; None never ends.

    Attributes
    ----------
    error : why feeding ended early, if it did.
    """

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        examples: Iterable[Example],
        rate: float | None,
        count: int | None,
    ) -> None:
        self._stopped = threading.Event()
        self._examples = examples
        self._rate = rate
        self._count = count
        self._sink = KafkaSink(client, topic, stopping=self._stopped.is_set)
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self.error: BaseException | None = None

    def __enter__(self) -> "Feed":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._sink.close()

    def _run(self) -> None:
        try:
            Feeder(self._sink, key=NO_KEY).feed(
                self._until_stopped(), RateLimit(self._rate, sleep=self._wait), _ignore
            )
            self._sink.flush()
        except BrokerUnavailableError as error:
            self.error = None if self._stopped.is_set() else error
        except BaseException as error:
            self.error = error
        self.error = self.error or self._sink.first_error

    def _until_stopped(self) -> Iterator[Example]:
        for example in islice(self._examples, self._count):
            if self._stopped.is_set():
                return
            yield example

    def _wait(self, seconds: float) -> None:
        if seconds >= _LEAST_WAIT_SECONDS:
            self._stopped.wait(seconds)


def _ignore() -> None:
    """Tell nobody: the daemon's own figures show what arrives."""
