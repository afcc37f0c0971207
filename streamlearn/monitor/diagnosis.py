"""Whether learning looks broken, and why: a setting that does not suit the data must not go unnoticed."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from streamlearn.choices import FixedScheme, Problem
from streamlearn.events import Event, Learned, LearningProblem, Observer, Polled, Rejected

# Sequences that are judged together.
WINDOW = 500
# Fewer gold labellings outside of the scheme, or a smaller share, may be mistakes of annotators.
_FEW, SHARE = 10, 0.01
# Tokens of other labels without which predicting one label only is right.
_RARE = 20
_UNKNOWN_SHARE = 0.9
# A loss that has not fallen below this share of what it was at first is constant.
_FALLEN = 0.98
_REJECTED = 50


class _Lessons:
    """Sums over sequences."""

    def __init__(self) -> None:
        self.sequences = self.tokens = self.wrong = self.off_scheme = self.unknown = self.sightings = 0
        self.loss = 0.0
        self.gold: Counter[str] = Counter()
        self.predicted: Counter[str] = Counter()

    def add(self, event: Learned) -> None:
        self.sequences += event.sequences
        self.tokens += event.tokens
        self.wrong += int(event.wrong.sum())
        self.loss += float(event.losses.sum())
        self.off_scheme += event.off_scheme
        self.unknown += event.unknown
        self.sightings += event.sightings
        self.gold.update(event.gold)
        self.predicted.update(event.predicted)


class ExpectedScheme(NamedTuple):
    """The scheme in which gold labels should be valid, and the configuration key that says so."""

    name: FixedScheme
    key: str


class Diagnosis:
    """An observer of what is learned and rejected, which reports problems when they begin and end.

    All problems are judged by windows of `WINDOW` sequences, from the second on: at first nothing is known.
    Gold labels and a loss that is not finite are judged after every batch.

    Parameters
    ----------
    expected : scheme of the gold labels; None for any.
    report : called with each `LearningProblem`.

    Examples
    --------
    >>> Diagnosis(None, print)(Rejected("orders", 0, 7, "syntax", "no JSON"))
    """

    def __init__(self, expected: ExpectedScheme | None, report: Observer) -> None:
        self._expected = expected
        self._report = report
        self._found: dict[Problem, str] = {}
        self._window = _Lessons()
        # Loss per token of the first window.
        self._first_loss: float | None = None
        self._detected: FixedScheme | None = None
        self._rejected: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Learned():
                self._rejected.clear()
                self._learned(event)
            case Rejected():
                self._rejected[str(event.reason)] += 1
            case Polled():
                # Everything that became of the batch before has been reported.
                self._set("records_rejected", _all_rejected(self._rejected))

    def finish(self) -> None:
        """Judge what is left, at the end of a stream that is too short for a whole window."""
        self._set("gold_scheme", self._gold_scheme(few=1))

    def _learned(self, event: Learned) -> None:
        window = self._window
        window.add(event)
        self._detected = event.detected_scheme
        self._set("gold_scheme", self._gold_scheme(_FEW), may_end=False)
        if not math.isfinite(float(event.losses.sum())):
            self._set("loss", "the loss is not a finite number; lower the learning rate")
        if window.sequences >= WINDOW:
            self._judge(window)
            self._window = _Lessons()

    def _judge(self, window: _Lessons) -> None:
        self._set("gold_scheme", self._gold_scheme(few=1))
        if self._first_loss is None:
            self._first_loss = window.loss / window.tokens
            return
        self._set("one_label", _one_label(window))
        self._set("features_unknown", _features_unknown(window))
        self._set("loss", _not_learning(window, self._first_loss))

    def _gold_scheme(self, few: int) -> str:
        window, expected = self._window, self._expected
        share = window.off_scheme / window.sequences if window.sequences else 0.0
        if expected is None or window.off_scheme < few or share < SHARE:
            return ""
        return off_scheme_message(window.off_scheme, window.sequences, expected, self._detected)

    def _set(self, reason: Problem, message: str, *, may_end: bool = True) -> None:
        """Note whether there is a problem now; an empty message says that there is none."""
        if message and reason not in self._found:
            self._found[reason] = message
            self._report(LearningProblem(reason, message, is_present=True))
        elif not message and may_end and reason in self._found:
            self._report(LearningProblem(reason, self._found.pop(reason), is_present=False))


def off_scheme_message(
    off_scheme: int, sequences: int, expected: ExpectedScheme, detected: FixedScheme | None
) -> str:
    """Return one line about gold labels that are not in the expected scheme; empty if there are none."""
    if not off_scheme:
        return ""
    share = f"{off_scheme / sequences:.0%} of {sequences:,} gold labellings are no {expected.name.upper()}"
    advice = ""
    if detected not in (None, expected.name):
        # Without `model` labels are converted to BIO.
        model = ", model: iobes" if expected.key == "labels.constrain" and expected.name == "iobes" else ""
        advice = f"; is it {str(detected).upper()}? labels.scheme={{data: {detected}{model}}} converts it"
    return f"{share} ({expected.key}){advice}"


def _one_label(window: _Lessons) -> str:
    if len(window.predicted) > 1 or len(window.gold) < 2:
        return ""
    label = next(iter(window.predicted), None)
    missed = window.gold.total() - window.gold[label or ""]
    if missed < _RARE:
        return ""
    said = "no label is predicted" if label is None else f"only {label!r} is predicted"
    return f"{said} in {window.sequences:,} sequences, where {missed:,} tokens have other labels"


def _features_unknown(window: _Lessons) -> str:
    if not window.sightings:
        return f"{window.sequences:,} sequences have no features"
    share = window.unknown / window.sightings
    if share < _UNKNOWN_SHARE:
        return ""
    return (
        f"{share:.0%} of the features in {window.sequences:,} sequences were new, or refused by a "
        "full table; check features.columns and features.templates"
    )


def _not_learning(window: _Lessons, first_loss: float) -> str:
    loss, most = window.loss / window.tokens, max(window.gold.values(), default=0)
    if not math.isfinite(loss):
        return "the loss is not a finite number; lower the learning rate"
    if loss < _FALLEN * first_loss or window.tokens - window.wrong > most or not window.wrong:
        return ""
    return (
        f"the loss has not fallen ({first_loss:.3g} per token at first, {loss:.3g} now), and always "
        "predicting one label would be as accurate; check the learner's settings and the labels"
    )


def _all_rejected(rejected: Mapping[str, int]) -> str:
    total = sum(rejected.values())
    if total < _REJECTED:
        return ""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in Counter(rejected).most_common(3))
    return f"the last {total:,} records were all rejected ({reasons})"
