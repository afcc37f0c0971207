"""Checking the user's client settings against those that kafka-python has."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from streamlearn.errors import ConfigError
from streamlearn.stream.kafka.client_values import require_valid
from streamlearn.stream.kafka.oauth import TokenProvider

Client = type[KafkaConsumer] | type[KafkaProducer] | type[KafkaAdminClient]

_CLIENTS: tuple[Client, ...] = (KafkaConsumer, KafkaProducer, KafkaAdminClient)
# Settings that a user cannot change, since our guarantees depend on them.
_OURS = {
    "auto_offset_reset": "offsets come from the checkpoint",
    "enable_auto_commit": "offsets come from the checkpoint",
    "group_id": "use source.group",
    "max_poll_records": "use source.max_poll_records",
    "key_deserializer": "keys stay bytes",
    # A deserializer that raises makes poll() spin on that record indefinitely.
    "value_deserializer": "values are decoded by the codec",
    "key_serializer": "keys stay bytes",
    "value_serializer": "values are encoded by the codec",
    "allow_auto_create_topics": "topics are never created implicitly",
    "acks": "records must reach all in-sync replicas",
    "bootstrap_timeout_ms": "use source.connect_timeout_seconds",
    "consumer_timeout_ms": "records are polled, not iterated over",
    "kafka_client": "streamlearn sets it",
}


def settings_for(client: Client, given: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of one kind of client: the given ones, overridden by ours.

    Settings of the other kinds of clients are allowed, and left out.

    Raises
    ------
    ConfigError : a key that no client has, one that a user cannot set, or a value that no client can have.
    """
    known = {key: value for kind in _CLIENTS for key, value in kind.DEFAULT_CONFIG.items()}
    for key in given:
        if key in _OURS:
            raise ConfigError(f"kafka client setting {key!r} cannot be changed: {_OURS[key]}; remove it")
        if key not in known:
            raise ConfigError(
                f"unknown kafka client setting {key!r}{nearest(key, known.keys() - _OURS.keys())}"
            )
    require_valid(given, known)
    settings = {key: _shaped(key, value) for key, value in given.items() if key in client.DEFAULT_CONFIG}
    return settings | {key: value for key, value in ours.items() if key in client.DEFAULT_CONFIG}


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: similar known names, if any.

    >>> nearest("bootstrap_server", ["bootstrap_servers", "client_id"])
    "; did you mean 'bootstrap_servers'?"
    """
    close = get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def brokers(given: Mapping[str, Any]) -> str:
    """Return the configured brokers as one string, for messages."""
    servers = given.get("bootstrap_servers", "localhost:9092")
    return servers if isinstance(servers, str) else ",".join(servers)


def _shaped(key: str, value: Any) -> Any:
    if key == "sasl_oauth_token_provider" and isinstance(value, str):
        return TokenProvider(value)
    # YAML has no tuples, and kafka-python compares versions as tuples.
    return tuple(value) if key == "api_version" and isinstance(value, list) else value
