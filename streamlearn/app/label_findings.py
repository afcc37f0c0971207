"""What is said about labels: whether they are in the expected scheme, and which can be predicted."""

from collections.abc import Callable, Sequence

from streamlearn.app.build_tagger import build_tagger
from streamlearn.config.schema import Config, LabelsConfig
from streamlearn.data import Example
from streamlearn.errors import ConfigError, RecordError
from streamlearn.events import Event, LearningProblem
from streamlearn.label_names import read_labels
from streamlearn.learners.tagger import Tagger
from streamlearn.monitor.diagnosis import SHARE, ExpectedScheme, off_scheme_message

# Labels that a message lists.
_SHOWN = 8


def expected_scheme(tagger: Tagger, labels: LabelsConfig) -> ExpectedScheme | None:
    """Return the scheme in which gold labels should be valid, with the key that says so."""
    key = "labels.scheme.data" if labels.scheme.model else "labels.constrain"
    return ExpectedScheme(tagger.scheme.expected, key) if tagger.scheme.expected else None


def require_valid_labellings(tagger: Tagger) -> str:
    """Return which known labels can never be predicted, as one line; empty if all can.

    Raises
    ------
    ConfigError : none can: no labelling at all is valid.
    """
    labels, lost, scheme = tagger.labels, tagger.unreachable, tagger.constraint
    if not lost:
        return ""
    listed = ", ".join(lost[:_SHOWN]) + (f" and {len(lost) - _SHOWN} more" if lost[_SHOWN:] else "")
    detected = tagger.scheme.detected
    if detected and detected != scheme:
        advice = f"the data looks like {detected.upper()}: convert it with labels.scheme, or constrain less"
    else:
        advice = "correct the labels, or set labels.constrain=none"
    if len(lost) == len(labels):
        raise ConfigError(f"no labelling with the known labels {listed} is valid {scheme.upper()}; {advice}")
    return f"{listed} can never be predicted: no labelling with them is valid {scheme.upper()}; {advice}"


class LabelSurvey:
    """Looks at the labels of sequences before they are learned."""

    def __init__(self, config: Config) -> None:
        self._tagger = build_tagger(config)
        self._expected = expected_scheme(self._tagger, config.labels)
        self._sequences = self._rejected = 0
        self._first_rejected = ""

    def reject(self, error: RecordError) -> None:
        """Count a sequence that cannot be learned."""
        self._rejected += 1
        self._first_rejected = self._first_rejected or str(error)

    def add(self, examples: Sequence[Example]) -> None:
        """Look at examples."""
        encoded = self._tagger.encode(examples)
        self._tagger.scheme.add(encoded.batch.evidence)
        self._sequences += len(encoded.accepted)
        for _, error in encoded.rejected:
            self.reject(error)

    def result(self) -> str:
        """Return what was found, as one line.

        Raises
        ------
        ConfigError : the labels do not suit the configuration, or no sequence can be learned.
        """
        if not self._sequences:
            raise ConfigError(
                f"no sequence can be learned; {self._rejected:,} rejected: {self._first_rejected}"
            )
        tagger, detected = self._tagger, self._tagger.scheme.detected
        found = f"{self._sequences:,} sequences, {len(tagger.labels):,} labels"
        found += f", {self._rejected:,} rejected" if self._rejected else ""
        found += f", labels look like {detected.upper()}" if detected else ""
        if self._expected:
            off = tagger.scheme.unexpected
            problem = off_scheme_message(off, self._sequences, self._expected, detected)
            if off >= SHARE * self._sequences and problem:
                raise ConfigError(problem)
            found += f", {off:,} labellings are no {self._expected.name.upper()}"
        missing = require_valid_labellings(tagger)
        if missing:
            raise ConfigError(missing)
        parts = read_labels(tagger.labels)
        foreign = [name for name, part in zip(tagger.labels, parts, strict=True) if part is None]
        if foreign and any(part and part.separator for part in parts):
            found += f"; no F1 of spans, because {foreign[0]!r} belongs to no scheme"
        return found


def telling(say: Callable[[str], None]) -> Callable[[Event], None]:
    """Return an observer that says each problem of learning when it is found for the first time."""
    told: set[str] = set()

    def observe(event: Event) -> None:
        if isinstance(event, LearningProblem) and event.is_present and event.reason not in told:
            told.add(event.reason)
            say(f"learning looks broken ({event.reason}): {event.message}")

    return observe
