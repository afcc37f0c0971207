"""The demo's producer: a thread that sends generated sequences to the topic."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from streamlearn.data import Example
from streamlearn.errors import BrokerUnavailableError
from streamlearn.stream.feeder import NO_KEY, Feeder, RateLimit
from streamlearn.stream.kafka.producer import KafkaSink

# Shorter waits are skipped and made up for later: a thousand wake-ups per second would cost too much CPU.
_LEAST_WAIT_SECONDS = 0.02


class Feed:
    """Sends sequences inside a ``with`` block, at most `count`.

    Parameters
    ----------
    client : settings of the Kafka client.
    topic, examples : what to send where.
    rate : sequences per second; None is unlimited.
    count : number of sequences; None is unlimited.

    Attributes
    ----------
    error : why sending ended early, if it did.
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
    """Ignore progress: the daemon's own figures show what arrives."""
