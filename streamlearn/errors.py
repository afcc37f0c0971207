"""The one tree of errors, each with the exit code that a command ends with when it escapes.

Exit codes follow sysexits.h, so that an init system can tell "try again" from "a person must look".
"""

from enum import StrEnum


class StreamlearnError(Exception):
    """Anything that streamlearn itself refuses, with a one-line message: where, got, wanted, what to do."""

    exit_code = 70


class UsageError(StreamlearnError):
    """A command line or an input file that cannot be used."""

    exit_code = 64


class ConfigError(StreamlearnError):
    """A configuration that is wrong, or that contradicts the state it is asked to continue."""

    exit_code = 78

    def __init__(self, *problems: str) -> None:
        # A key or a file may have any name.
        self.problems = tuple(" ".join(problem.splitlines()) for problem in problems)
        super().__init__("; ".join(self.problems))


class StreamError(StreamlearnError):
    """The stream is not the one that the state was learned from: lost, truncated or recreated."""

    exit_code = 65


class BrokerUnavailableError(StreamlearnError):
    """No broker answered within the time that was allowed, or a dead letter cannot be delivered."""

    exit_code = 69


class AuthenticationError(StreamlearnError):
    """The broker refused the credentials, or the permissions do not suffice."""

    exit_code = 77


class CheckpointError(StreamlearnError):
    """A checkpoint cannot be written or read."""

    exit_code = 74


class TelemetryError(StreamlearnError):
    """The address for metrics and health cannot be listened on."""

    exit_code = 74


class StateLockedError(StreamlearnError):
    """Another daemon holds the state directory, or has taken over the remote state."""

    exit_code = 75


class NonFiniteWeightsError(CheckpointError):
    """A weight is NaN or infinite; such a state is never checkpointed."""


class Reason(StrEnum):
    """Why a record was rejected: the bounded label values of ``records_rejected_total``."""

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
    """One record that cannot be learned from; counted by reason, never fatal for a stream."""

    exit_code = 65

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
