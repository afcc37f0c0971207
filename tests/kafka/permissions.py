"""Users of the TLS listener: their settings, tokens and permissions."""

import base64
import json
import time
from typing import TYPE_CHECKING

from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from tests.kafka.broker import PASSWORD, ApacheKafka
from tests.kafka.topics import admin

if TYPE_CHECKING:
    from tests.conftest import Broker


def tls_client(node: ApacheKafka, mechanism: str = "SCRAM-SHA-512", **changes: object) -> dict[str, object]:
    """Return the settings of the user ``learner``."""
    return {
        "bootstrap_servers": node.tls_server,
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(node.authority.certificate),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "learner",
        "sasl_plain_password": PASSWORD,
    } | changes


def allow(broker: "Broker", user: str, kind: ResourceType, name: str) -> None:
    """Let a user read a topic, or commit as a group."""
    pattern = ResourcePattern(kind, name)
    with admin(broker) as client:
        client.create_acls([ACL(f"User:{user}", "*", ACLOperation.READ, ACLPermissionType.ALLOW, pattern)])


def unsigned_token() -> str:
    """Return a token that says it is the user ``learner``."""
    now = int(time.time())
    parts = ({"alg": "none"}, {"sub": "learner", "iat": now, "exp": now + 3600})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, ""])


def expired_token() -> str:
    """Return what no broker takes."""
    return unsigned_token()[:-5] + "."


def no_token() -> None:
    """Return nothing."""


def unavailable_token() -> str:
    """Fail as a service of tokens does, with a message that nobody may see."""
    raise OSError("hunter2")
