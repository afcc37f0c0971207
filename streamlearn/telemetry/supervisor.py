"""Notifications to systemd: started, alive, stopping (sd_notify(3), without a library)."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from streamlearn.events import Event, Learned, Polled, Standing, StateChanged


class Supervisor:
    """An observer that notifies systemd; does nothing without a notification socket.

    The unit counts as started when the state is locked and loaded: a boot does not wait for a broker, nor for
    the first compilation. These have no time limit, so the watchdog starts with the loop; then every poll
    feeds it, and a loop that hangs is restarted.

    Parameters
    ----------
    environment : contains ``NOTIFY_SOCKET`` and ``WATCHDOG_USEC``.
    clock : returns monotonic seconds.
    """

    def __init__(
        self, environment: Mapping[str, str] = os.environ, clock: Callable[[], float] = time.monotonic
    ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        # A leading @ means the abstract namespace.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._watchdog = int(environment.get("WATCHDOG_USEC", "0"))
        self._interval = self._watchdog / 4e6
        self._clock = clock
        self._fed = -float("inf")

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if not self._address:
            return
        match event:
            case StateChanged("starting"):
                self._send("READY=1\nWATCHDOG_USEC=0\nSTATUS=compiling kernels, or waiting for a broker")
            case StateChanged("running"):
                self._send(f"WATCHDOG_USEC={self._watchdog}\nSTATUS=learning")
            case StateChanged("stopping"):
                self._send("STOPPING=1\nSTATUS=writing the last checkpoint")
            case Polled(connected=False):
                self._feed("waiting for a broker")
            case Polled():
                self._feed("")
            case Learned(standing=Standing(sequences_seen=seen)):
                self._feed(f"{seen:,} sequences learned")

    def _feed(self, status: str) -> None:
        now = self._clock()
        if self._interval and now - self._fed >= self._interval:
            self._fed = now
            self._send("WATCHDOG=1" + (f"\nSTATUS={status}" if status else ""))

    def _send(self, message: str) -> None:
        # The supervisor may be gone; learning continues without it.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(message.encode(), self._address)
