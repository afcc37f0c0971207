"""Whether the daemon is alive (its loop ticks) and ready (state loaded, broker connected)."""

import time
from collections.abc import Callable
from typing import NamedTuple

from streamlearn.events import Event, Polled, State, StateChanged


class HealthStatus(NamedTuple):
    """An answer and its reason in one line."""

    ok: bool
    reason: str


class Health:
    """An observer that knows the state and the connection; each poll is a turn of the loop.

    Alive is a matter of the loop alone: an idle stream, a backlog and a broker that is away are all healthy,
    because a restart would mend none of them. Before the loop runs and while it stops there are no ticks to
    wait for: compiling kernels, loading a state and writing the last checkpoint take as long as they take.

    Parameters
    ----------
    stall_seconds : the longest that one turn of the loop may take.
    clock : gives monotonic seconds.
    """

    def __init__(self, stall_seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._last_tick = clock()
        self._state: State = "starting"
        self._connected = False

    def tick(self) -> None:
        """Note that the loop goes on, where it does so for long without a poll."""
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
        """Tell whether the process should be left alone."""
        if self._state in ("stopped", "failed"):
            return HealthStatus(False, self._state)
        age = self._clock() - self._last_tick
        if self._state == "running" and age > self._stall_seconds:
            return HealthStatus(
                False, f"stalled: the loop last ticked {age:.0f} s ago, limit {self._stall_seconds:g} s"
            )
        return HealthStatus(True, self._state)

    def ready(self) -> HealthStatus:
        """Tell whether records that are sent now are learned from."""
        if self._state != "running":
            return HealthStatus(False, self._state)
        return HealthStatus(True, "running") if self._connected else HealthStatus(False, "no broker answers")
