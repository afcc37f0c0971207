"""Converting kafka-python's errors to ours."""

from kafka import errors

from streamlearn.errors import (
    AuthenticationError,
    BrokerUnavailableError,
    ConfigError,
    StreamError,
    StreamlearnError,
)


class TlsError(errors.KafkaConnectionError):
    """The TLS handshake fails: a certificate is not trusted, or one side does not use TLS."""


class TokenError(errors.KafkaError):
    """The callable for OAUTHBEARER tokens returned no valid token."""


# Errors that retrying cannot fix.
REFUSALS = (
    errors.SaslAuthenticationFailedError,
    errors.AuthorizationError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
    TlsError,
    TokenError,
)


def reason(error: BaseException) -> str:
    """Return a kafka-python error as one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if type(error).__name__ in text else f"{type(error).__name__}: {text}"


def converted(error: Exception, where: str) -> StreamlearnError:
    """Return our error for one that a kafka-python client raised.

    Parameters
    ----------
    where : brokers or topic involved; begins the message.
    """
    if isinstance(error, StreamlearnError):
        return error
    if isinstance(error, TlsError):
        return AuthenticationError(
            f"{where}: TLS failed: {error.args[0]}; check kafka.security_protocol and kafka.ssl_cafile"
        )
    if isinstance(error, TokenError):
        return AuthenticationError(f"{where}: no OAUTHBEARER token: {error.args[0]}")
    if isinstance(error, errors.TopicAuthorizationFailedError):
        topics = error.args[0] if error.args else ""
        named = ", ".join(map(repr, [topics] if isinstance(topics, str) else sorted(topics)))
        return AuthenticationError(
            f"{where}: not permitted: topic {named}; grant READ on it (WRITE to produce)"
        )
    if isinstance(error, errors.AuthorizationError):
        return AuthenticationError(f"{where}: not permitted: {reason(error)}; grant this access to the user")
    if isinstance(error, REFUSALS):
        return AuthenticationError(f"{where}: the broker rejected the credentials: {reason(error)}")
    if isinstance(error, errors.InvalidTopicError):
        return ConfigError(
            f"{where}: not a valid topic name, wanted up to 249 letters, digits and . _ -: {reason(error)}"
        )
    if isinstance(error, errors.UnknownTopicOrPartitionError):
        return StreamError(f"{where}: the topic does not exist: {reason(error)}")
    if isinstance(error, errors.RetriableError):
        return BrokerUnavailableError(f"{where}: no broker answered: {reason(error)}")
    # Clients report bad settings with various exceptions.
    if isinstance(error, errors.KafkaConfigurationError | ValueError | TypeError | AssertionError | OSError):
        return ConfigError(f"{where}: kafka-python rejects the client settings: {reason(error)}")
    return StreamError(f"{where}: {reason(error)}")
