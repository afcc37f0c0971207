"""OAUTHBEARER tokens from a callable that the configuration names."""

import importlib
from collections.abc import Callable

from kafka.errors import KafkaConnectionError
from kafka.net.sasl.oauth import AbstractTokenProvider

from streamlearn.errors import ConfigError
from streamlearn.stream.kafka.client_errors import TokenError


class TokenProvider(AbstractTokenProvider):
    """Asks the callable for a token whenever a connection authenticates.

    Parameters
    ----------
    name : ``package.module:callable``. It is called without arguments, from any thread, returns the token as
        a string, and should cache it while it is valid.

    Raises
    ------
    ConfigError : there is no such callable.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._get_token = _found(name)

    def token(self) -> str:
        """Return a token.

        Raises
        ------
        KafkaConnectionError : the callable raised, e.g. since the token server is down; will be retried.
        TokenError : it did not return a string.
        """
        try:
            token = self._get_token()
        except Exception as error:
            # The error's text may contain a secret.
            raise KafkaConnectionError(f"{self._name} raised {type(error).__name__}") from None
        if not isinstance(token, str) or not token:
            raise TokenError(f"{self._name} returned {type(token).__name__}, wanted a non-empty string")
        return token


def _found(name: str) -> Callable[[], object]:
    module, _, attribute = name.partition(":")
    wrong = f"kafka client setting 'sasl_oauth_token_provider': {name!r}"
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"{wrong}: {error}; wanted package.module:callable") from None
    if not callable(found):
        raise ConfigError(f"{wrong} cannot be called; wanted package.module:callable")
    return found
