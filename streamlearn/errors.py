"""All errors, each with the exit code of a command that it ends.

Exit codes follow sysexits.h, so that a supervisor can tell whether a restart may help.
"""

from enum import StrEnum


class StreamlearnError(Exception):
    """Any error that streamlearn detects, with a one-line message: where, got, wanted, what to do."""

    exit_code = 70


class UsageError(StreamlearnError):
    """The command line or an input file is invalid.

    A restart does not help: a person must correct it.
    """

    exit_code = 64


class ConfigError(StreamlearnError):
    """The configuration is invalid, or does not fit the state that it is to continue.

    A restart does not help: a person must correct it.
    """

    exit_code = 78

    def __init__(self, *problems: str) -> None:
        # Names of keys and files may contain line breaks.
        self.problems = tuple(" ".join(problem.splitlines()) for problem in problems)
        super().__init__("; ".join(self.problems))


class StreamError(StreamlearnError):
    """The stream does not continue the state: records were lost, a topic was recreated, or too many are bad.

    A restart does not help: a person must decide what becomes of the records.
    """

    exit_code = 65


class BrokerUnavailableError(StreamlearnError):
    """No broker responded in time, or a dead letter cannot be delivered.

    A restart helps as soon as the brokers are back: nothing is lost or learned twice.
    """

    exit_code = 69


class AuthenticationError(StreamlearnError):
    """The broker rejected the credentials, or a permission is missing.

    A restart does not help: a person must correct either.
    """

    exit_code = 77


class CheckpointError(StreamlearnError):
    """A checkpoint cannot be written or read.

    A restart helps once the disk or object store works again: older checkpoints stay intact.
    """

    exit_code = 74


class TelemetryError(StreamlearnError):
    """The metrics server cannot listen on its address.

    A restart does not help: a person must choose another port or address.
    """

    exit_code = 78


class StateLockedError(StreamlearnError):
    """Another daemon holds the state directory, or has taken over the remote state.

    A restart does not help: of two daemons with one state, a person must stop one.
    """

    exit_code = 75


class NonFiniteWeightsError(CheckpointError):
    """A weight is NaN or infinite; such a state is never written.

    A restart does not help: it continues from the last checkpoint, and fails again on the same records.
    """

    exit_code = 65


class Reason(StrEnum):
    """Why a record was rejected; the values of the label `reason` of ``records_rejected_total``."""

    TOMBSTONE = "tombstone"
    CONTENT_TYPE = "content_type"
    ENCODING = "encoding"
    SYNTAX = "syntax"
    DUPLICATE_KEY = "duplicate_key"
    TYPE = "type"
    EMPTY = "empty"
    LENGTH = "length"
    NOT_FINITE = "not_finite"
    TOO_LARGE = "too_large"
    MISSING_COLUMN = "missing_column"
    MISSING_LABELS = "missing_labels"
    LABELS_FULL = "labels_full"


class RecordError(StreamlearnError):
    """A record cannot be learned from; the daemon counts it by reason and continues."""

    exit_code = 65

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
