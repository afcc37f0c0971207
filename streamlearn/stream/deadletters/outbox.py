"""Delivering dead letters to a topic, or to a local file if the topic fails. None is dropped."""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from streamlearn.choices import LetterOutcome
from streamlearn.errors import BrokerUnavailableError, StreamlearnError
from streamlearn.stream.deadletters.dead_letter import DeadLetter
from streamlearn.stream.deadletters.spool import Spool

Done = Callable[[StreamlearnError | None], None]

# Maximum size of unacknowledged letters; a larger letter is sent on its own.
_MAX_PENDING_BYTES = 32 << 20


class LetterSink(Protocol):
    """A topic for dead letters."""

    def send(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]] = (),
        done: Done | None = None,
    ) -> None:
        """Send a record; `done` is called, in any thread, with None once acknowledged, or with the error."""

    def is_gone(self) -> bool:
        """Return whether the topic was deleted."""


class Outbox:
    """Accepts dead letters from one thread; they are durable once `settle` returns True.

    Parameters
    ----------
    sink : the topic; None to use only the file.
    spool : the file; None to raise an error if the topic fails.
    on_outcome : called by the thread that settles, with how many letters were delivered or spooled.
    """

    def __init__(
        self, sink: LetterSink | None, spool: Spool | None, on_outcome: Callable[[LetterOutcome, int], None]
    ) -> None:
        self._sink = sink
        self._spool = spool
        self._on_outcome = on_outcome
        self._changed = threading.Condition()
        self._pending = 0
        self._pending_bytes = 0
        self._delivered = 0
        self._failed: list[tuple[DeadLetter, StreamlearnError]] = []

    def send(self, letter: DeadLetter) -> None:
        """Start delivering a letter.

        Raises
        ------
        StreamlearnError : as in `settle`, which is called if too much is unacknowledged.
        """
        size = len(letter.key or b"") + len(letter.value or b"")
        while self._pending_bytes and self._pending_bytes + size > _MAX_PENDING_BYTES:
            # This ends, since the client gives up on a broker that does not answer.
            self.settle(1.0)
        with self._changed:
            self._pending += 1
            self._pending_bytes += size
        if self._sink is None:
            self._done(letter, size, BrokerUnavailableError("no topic for dead letters"))
            return
        try:
            self._sink.send(
                letter.key,
                letter.value,
                letter.error_headers(),
                lambda error: self._done(letter, size, error),
            )
        except StreamlearnError as error:
            self._done(letter, size, error)

    def settle(self, timeout_seconds: float) -> bool:
        """Wait, and return whether all letters so far are durable.

        Raises
        ------
        BrokerUnavailableError : a letter cannot be written to the topic, and there is no file.
        CheckpointError : the file cannot be written.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._pending == 0, timeout_seconds)
            delivered, self._delivered = self._delivered, 0
            failed, is_all = list(self._failed), self._pending == 0
        if delivered:
            self._on_outcome("delivered", delivered)
        if failed:
            self._save(failed)
        if not is_all and self._spool is None and self._sink is not None and self._sink.is_gone():
            raise BrokerUnavailableError(
                "dead letters cannot be delivered: their topic was deleted; none was dropped; create the "
                "topic, or set dead_letters.on_unavailable to spool"
            )
        return is_all

    def _save(self, failed: Sequence[tuple[DeadLetter, StreamlearnError]]) -> None:
        if self._spool is None:
            letter, error = failed[0]
            raise BrokerUnavailableError(
                f"{letter.place}: its dead letter cannot be delivered: {error}; it was not dropped; fix the "
                "topic, or set dead_letters.on_unavailable to spool"
            )
        self._spool.append(letter for letter, _ in failed)
        with self._changed:
            del self._failed[: len(failed)]
        self._on_outcome("spooled", len(failed))

    def _done(self, letter: DeadLetter, size: int, error: StreamlearnError | None) -> None:
        with self._changed:
            self._pending -= 1
            self._pending_bytes -= size
            if error is None:
                self._delivered += 1
            else:
                self._failed.append((letter, error))
            self._changed.notify_all()
