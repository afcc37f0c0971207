"""Liveness (the loop makes progress) and readiness (state loaded, broker connected) of the daemon."""

import time
from collections.abc import Callable
from typing import NamedTuple

from streamlearn.events import Event, Polled, State, StateChanged


class HealthStatus(NamedTuple):
    """Whether a check passes, and the reason in one line."""

    ok: bool
    reason: str


class Health:
    """An observer that tracks the state, the connection and the time of the last poll.

    Liveness depends on the loop alone: an idle stream, a backlog and a disconnected broker are all healthy,
    because a restart would fix none of them. Startup and shutdown have no time limit: compiling kernels,
    loading a state and writing the last checkpoint may take long.

    Parameters
    ----------
    stall_seconds : maximum time between two polls.
    clock : returns monotonic seconds.
    """

    def __init__(self, stall_seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._last_tick = clock()
        self._state: State = "starting"
        self._connected = False

    def tick(self) -> None:
        """Record progress of the loop during work that takes long without a poll."""
        self._last_tick = self._clock()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case StateChanged(state):
                self._state = state
                self.tick()
            case Polled(connected=connected):
                self._connected = connected
                self.tick()

    def alive(self) -> HealthStatus:
        """Return whether the process is healthy; if not, it should be restarted."""
        if self._state in ("stopped", "failed"):
            return HealthStatus(False, self._state)
        age = self._clock() - self._last_tick
        if self._state == "running" and age > self._stall_seconds:
            return HealthStatus(
                False, f"stalled: the loop last ticked {age:.0f} s ago, limit {self._stall_seconds:g} s"
            )
        return HealthStatus(True, self._state)

    def ready(self) -> HealthStatus:
        """Return whether new records are being read and learned."""
        if self._state != "running":
            return HealthStatus(False, self._state)
        return HealthStatus(True, "running") if self._connected else HealthStatus(False, "no broker answers")
