"""Concept drift detection: detectors over signals, and remedies at reproducible places of the stream."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamlearn.choices import DetectorKind, Signal
from streamlearn.events import Drift
from streamlearn.monitor.detector import Detector
from streamlearn.monitor.signals import LearnedBatch, Signals

# Remedies change weights, so their places must not depend on how the stream is divided into batches.
REMEDY_STRIDE = 500


class DriftWatch:
    """Feeds every signal to every detector; its decisions depend on the stream alone.

    Parameters
    ----------
    detectors, signals : names; empty turns detection off.
    quantum : sequences per value of a signal.
    actions : reported with each drift: the names of `remedies` and of actions taken by observers.
    remedies : change the learner; called at the next multiple of `REMEDY_STRIDE` sequences.
    """

    def __init__(
        self,
        detectors: Sequence[DetectorKind] = (),
        signals: Sequence[Signal] = (),
        quantum: int = 50,
        actions: Sequence[str] = (),
        remedies: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._quantum = quantum
        self.react(actions, remedies)
        self._signals = Signals(quantum)
        self._detectors = {(s, d): Detector(d) for s in signals for d in detectors}
        self._sequences = 0
        self._is_due = False

    def react(self, actions: Sequence[str], remedies: Sequence[Callable[[], None]]) -> None:
        """React to drifts in this way from now on; see the class for both."""
        self._actions, self._remedies = tuple(actions), remedies

    def stops(self, sequences: int) -> list[int]:
        """Return where to split a batch of `sequences`: `update` takes each part separately."""
        if not (self._detectors and self._remedies):
            return []
        first = -self._sequences % REMEDY_STRIDE
        return [place for place in range(first, sequences, REMEDY_STRIDE) if place]

    def update(self, lesson: LearnedBatch) -> list[Drift]:
        """Add a batch, split as `stops` says; apply remedies that are due; return the drifts detected."""
        if not self._detectors:
            return []
        before, drifts = self._sequences // self._quantum, []
        for number, values in enumerate(self._signals.add(lesson), 1):
            drifts += self._feed(values, (before + number) * self._quantum)
        self._sequences += len(lesson.losses)
        self._is_due |= bool(drifts)
        if self._is_due and self._sequences % REMEDY_STRIDE == 0:
            for remedy in self._remedies:
                remedy()
            self._is_due = False
        return drifts

    def _feed(self, values: Mapping[str, float], sequence: int) -> list[Drift]:
        found = []
        for (signal, kind), detector in self._detectors.items():
            if signal in values:
                levels = detector.update(values[signal])
                if levels:
                    before, after = (level / self._quantum for level in levels)
                    found.append(Drift(sequence, signal, kind, before, after, self._actions))
        return found

    def scores(self) -> dict[str, float]:
        """Return, by signal, by how many standard errors the last values are above those before."""
        scores: dict[str, float] = {}
        for (signal, _), detector in self._detectors.items():
            scores.setdefault(signal, detector.score())
        return scores

    def state(self) -> dict[str, Any]:
        """Return the state as plain data and arrays."""
        return {
            "quantum": self._quantum,
            "sequences": self._sequences,
            "is_due": self._is_due,
            "signals": self._signals.state(),
            "detectors": {_name(*key): detector.state() for key, detector in self._detectors.items()},
        }

    def restore(self, state: Mapping[str, Any], sequences: int) -> None:
        """Continue from a state at `sequences`; start empty if it has none or another quantum.

        A detector or signal that is new starts empty.
        """
        self._sequences = sequences
        if state.get("quantum") != self._quantum or state["sequences"] != sequences:
            return
        self._is_due = state["is_due"]
        self._signals.restore(state["signals"])
        for key, detector in self._detectors.items():
            if _name(*key) in state["detectors"]:
                detector.restore(state["detectors"][_name(*key)])


def _name(signal: str, kind: str) -> str:
    return f"{signal}/{kind}"
