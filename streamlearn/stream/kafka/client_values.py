"""Checking the values of client settings, which kafka-python itself does when it connects, or never."""

# The stubs of kafka-python leave these calls untyped.
# mypy: disable-error-code="no-untyped-call"

import re
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafka.net.transport import KafkaSSLTransport

from streamlearn.errors import ConfigError

_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")
_TEXT = (*_FILES, "ssl_password", "sasl_plain_username", "sasl_plain_password", "sasl_oauth_token_provider")
_LOGIN = ("sasl_plain_username", "sasl_plain_password")
# What each mechanism of SASL needs.
_MECHANISMS: dict[str, tuple[str, ...]] = {
    "PLAIN": _LOGIN,
    "SCRAM-SHA-256": _LOGIN,
    "SCRAM-SHA-512": _LOGIN,
    "OAUTHBEARER": ("sasl_oauth_token_provider",),
    "GSSAPI": (),
    "AWS_MSK_IAM": (),
}
_CHOICES = {
    "security_protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "sasl_mechanism": tuple(_MECHANISMS),
    "isolation_level": ("read_committed", "read_uncommitted"),
    "compression_type": ("gzip", "snappy", "lz4", "zstd"),
    "client_dns_lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
}
# A name, an IPv4 address or an IPv6 address in brackets with an optional port, or a plain IPv6 address.
_SERVER = re.compile(
    r"(?:\w+://)?(?:(?:\[[^\[\]\s]+\]|[^\[\]\s:/]+)(?::(?P<port>\d+))?|[\da-fA-F]*(?::[\da-fA-F]*){2,})"
)
_MOST = 65535
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def require_valid(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Return if the values can be those of a client.

    Parameters
    ----------
    defaults : the client's own, of which the types are wanted.

    Raises
    ------
    ConfigError : the first wrong value; of a secret only the type is shown.
    """
    for key, value in given.items():
        wanted = _wanted(key, value, defaults.get(key))
        if wanted:
            got = type(value).__name__ if key in _TEXT else reprlib.repr(value)
            raise ConfigError(f"kafka client setting {key!r}: got {got}, wanted {wanted}")
    if "bootstrap_servers" in given:
        _require_servers(given["bootstrap_servers"])
    for key in _FILES:
        if given.get(key) and not Path(given[key]).is_file():
            raise ConfigError(f"kafka client setting {key!r}: no such file: {given[key]}")
    _require_security(given)


def require_topic_names(topics: Iterable[str]) -> None:
    """Return if all names are possible.

    Raises
    ------
    ConfigError
    """
    for topic in topics:
        if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
            raise ConfigError(
                f"{topic!r} is not a valid topic name, wanted up to 249 letters, digits and . _ -"
            )


def _wanted(key: str, value: Any, default: Any) -> str:
    """Return what is wanted instead of a value, or "" if it is fine."""
    if key in _CHOICES:
        fine = value in _CHOICES[key] or (value is None and default is None)
        return "" if fine else f"one of {', '.join(_CHOICES[key])}"
    if key in _TEXT:
        return "" if value is None or isinstance(value, str) else "text (numbers need quotes)"
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if is_number and value >= 0 else "a number, 0 or more"
    if isinstance(default, list):
        return "" if isinstance(value, list | tuple) else "a list"
    if isinstance(default, str) and key != "bootstrap_servers":
        return "" if isinstance(value, str) else "text (numbers need quotes)"
    return ""


def _require_servers(servers: Any) -> None:
    each = servers.split(",") if isinstance(servers, str) else servers
    if not isinstance(each, list | tuple) or not each:
        each = [servers]
    for server in each:
        found = _SERVER.fullmatch(server.strip()) if isinstance(server, str) else None
        if found is None or not 1 <= int(found["port"] or 1) <= _MOST:
            raise ConfigError(
                f"kafka client setting 'bootstrap_servers': got {reprlib.repr(server)}, wanted host:port, "
                f"the port from 1 to {_MOST}, or several separated by commas"
            )


def _require_security(given: Mapping[str, Any]) -> None:
    protocol = given.get("security_protocol") or ""
    if protocol.startswith("SASL"):
        mechanism = given.get("sasl_mechanism")
        needed = ("sasl_mechanism",) if mechanism is None else _MECHANISMS[mechanism]
        absent = [key for key in needed if given.get(key) is None]
        if absent:
            raise ConfigError(f"kafka client setting {absent[0]!r} is missing: {protocol} needs it")
    if protocol.endswith("SSL"):
        try:
            build: Any = KafkaSSLTransport._build_ssl_context  # type: ignore[attr-defined]
            build({**KafkaSSLTransport.DEFAULT_CONFIG, **given})
        except (OSError, ValueError, TypeError) as error:
            files = ", ".join(str(given[key]) for key in _FILES if given.get(key))
            raise ConfigError(f"kafka client settings for TLS: {files}: {error}; wanted PEM files") from None
