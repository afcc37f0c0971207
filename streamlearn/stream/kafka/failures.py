"""kafka-python's errors in the terms of our own tree."""

from kafka import errors

from streamlearn.errors import (
    AuthenticationError,
    BrokerUnavailableError,
    ConfigError,
    StreamError,
    StreamlearnError,
)


class TlsError(errors.KafkaConnectionError):
    """Client and broker cannot agree on TLS: a certificate is not trusted, or one of them speaks none."""


class TokenError(errors.KafkaError):
    """The callable that gives OAUTHBEARER tokens gave none."""


# Errors that no amount of waiting cures.
REFUSALS = (
    errors.SaslAuthenticationFailedError,
    errors.AuthorizationError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
    TlsError,
    TokenError,
)


def reason(error: BaseException) -> str:
    """Return one line that says what a kafka-python error is about."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if type(error).__name__ in text else f"{type(error).__name__}: {text}"


def translated(error: Exception, where: str) -> StreamlearnError:
    """Return the error of our tree for one that a kafka-python client raised.

    Parameters
    ----------
    where : brokers or topic that the client was talking to; begins the message.
    """
    if isinstance(error, StreamlearnError):
        return error
    if isinstance(error, TlsError):
        return AuthenticationError(
            f"{where}: no TLS: {error.args[0]}; look at kafka.security_protocol and kafka.ssl_cafile"
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
        return AuthenticationError(f"{where}: not permitted, grant the access: {reason(error)}")
    if isinstance(error, REFUSALS):
        return AuthenticationError(f"{where}: the broker refused the credentials: {reason(error)}")
    if isinstance(error, errors.InvalidTopicError):
        return ConfigError(
            f"{where}: no name of a topic, wanted up to 249 letters, digits and . _ -: {reason(error)}"
        )
    if isinstance(error, errors.UnknownTopicOrPartitionError):
        return StreamError(f"{where}: the topic does not exist: {reason(error)}")
    if isinstance(error, errors.RetriableError):
        return BrokerUnavailableError(f"{where}: no broker answered: {reason(error)}")
    # Clients check their settings by whatever exception came to hand.
    if isinstance(error, errors.KafkaConfigurationError | ValueError | TypeError | AssertionError | OSError):
        return ConfigError(f"{where}: kafka-python refuses the client settings: {reason(error)}")
    return StreamError(f"{where}: {reason(error)}")
