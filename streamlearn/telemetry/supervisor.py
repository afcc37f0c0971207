"""Tells systemd how the daemon is: started, alive, stopping (sd_notify(3), with no library)."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from streamlearn.events import Event, Learned, Polled, StateChanged


class Supervisor:
    """An observer that does nothing unless a supervisor listens.

    Every poll is a turn of the loop and feeds the watchdog: what hangs is restarted. The unit is started once
    the loop runs, however long compiling, loading a state and waiting for a broker take.

    Parameters
    ----------
    environment : where ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC`` are looked up.
    clock : gives monotonic seconds.
    """

    def __init__(
        self, environment: Mapping[str, str] = os.environ, clock: Callable[[], float] = time.monotonic
    ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        # A name that begins with @ is in the abstract namespace.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._interval = int(environment.get("WATCHDOG_USEC", "0")) / 4e6
        self._clock = clock
        self._fed = -float("inf")

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if not self._address:
            return
        match event:
            case StateChanged("running"):
                self._send("READY=1\nSTATUS=learning")
            case StateChanged("stopping"):
                self._send("STOPPING=1\nSTATUS=writing the last checkpoint")
            case Polled(connected=False):
                self._feed("waiting for a broker")
            case Polled():
                self._feed("")
            case Learned(sequences_seen=seen):
                self._feed(f"{seen:,} sequences learned")

    def _feed(self, status: str) -> None:
        now = self._clock()
        if self._interval and now - self._fed >= self._interval:
            self._fed = now
            self._send("WATCHDOG=1" + (f"\nSTATUS={status}" if status else ""))

    def _send(self, message: str) -> None:
        # Whoever supervises may be gone; that is no reason to stop learning.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(message.encode(), self._address)
