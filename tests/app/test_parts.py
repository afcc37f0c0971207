"""What `run` refuses before its first record, `check` refuses, too: with the same words and exit code."""

from pathlib import Path
from typing import Any

import pytest

from streamlearn.app.check import check
from streamlearn.app.run import Daemon
from streamlearn.config.load import load
from streamlearn.errors import StreamlearnError
from tests.sequences import write_config

SERVERS = "kafka client setting 'bootstrap_servers'"
DEAD = {"policy": "dead_letter"}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"kafka": {"foo": 1}}, "unknown kafka client setting 'foo'"),
    ({"kafka": {"bootstrap_server": "b"}}, "did you mean 'bootstrap_servers'?"),
    ({"kafka": {"group_id": "g"}}, "'group_id' cannot be changed: use source.group"),
    ({"kafka": {"auto_offset_reset": "latest"}}, "'auto_offset_reset' cannot be changed"),
    ({"kafka": {"bootstrap_servers": "b:x"}}, f"{SERVERS}: got 'b:x', wanted host:port"),
    ({"kafka": {"bootstrap_servers": "b:99999"}}, f"{SERVERS}: got 'b:99999', wanted host:port"),
    ({"kafka": {"bootstrap_servers": ["a:1", "b:0"]}}, f"{SERVERS}: got 'b:0', wanted host:port"),
    ({"kafka": {"bootstrap_servers": 9092}}, f"{SERVERS}: got 9092, wanted host:port"),
    ({"kafka": {"bootstrap_servers": ""}}, f"{SERVERS}: got '', wanted host:port"),
    ({"kafka": {"security_protocol": "TLS"}}, "wanted one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
    ({"kafka": {"security_protocol": "SASL_SSL"}}, "'sasl_mechanism' is missing"),
    (
        {"kafka": {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}},
        "'sasl_plain_username' is missing",
    ),
    ({"kafka": {"sasl_mechanism": 7}}, "got 7, wanted one of PLAIN, SCRAM-SHA-256"),
    ({"kafka": {"sasl_plain_password": 4711}}, "got int, wanted text"),
    ({"kafka": {"security_protocol": "SSL", "ssl_cafile": "/absent.pem"}}, "no such file: /absent.pem"),
    ({"kafka": {"security_protocol": "SSL", "ssl_cafile": __file__}}, "wanted PEM files"),
    ({"kafka": {"isolation_level": "all"}}, "wanted one of read_committed, read_uncommitted"),
    ({"kafka": {"fetch_max_wait_ms": "long"}}, "got 'long', wanted a number, 0 or more"),
    ({"kafka": {"request_timeout_ms": -1}}, "got -1, wanted a number, 0 or more"),
    ({"kafka": {"check_crcs": 1}}, "got 1, wanted true or false"),
    ({"kafka": {"client_id": 1}}, "got 1, wanted text"),
    ({"kafka": {"api_version": "x"}}, "kafka-python rejects the client settings"),
    ({"kafka": {"api_version": [0, 1]}}, "kafka-python rejects the client settings"),
    ({"kafka": {"connections_max_idle_ms": 1}}, "must be larger than request_timeout_ms"),
    ({"kafka": {"sasl_oauth_token_provider": "absent:token"}}, "wanted package.module:callable"),
    ({"source": {"topics": ["a b"]}}, "'a b' is not a valid topic name"),
    ({"dead_letters": DEAD | {"topic": "a/b"}}, "'a/b' is not a valid topic name"),
    ({"dead_letters": DEAD | {"file": "/absent/file"}}, "dead_letters.file: /absent: no such directory"),
    ({"metrics": {"tls_certificate": "/absent.pem"}}, "metrics.tls_certificate: /absent.pem"),
    ({"checkpoint": {"directory": "nonsense://bucket"}}, "nonsense"),
    ({"drift": {"actions": ["rewarm"]}}, "rewarm"),
    ({"features": {"columns": ["w"], "templates": "U00:%x[0,nope]"}}, "no column 'nope'"),
    ({"nonsense": 1}, "unknown key 'nonsense'"),
]


def refused_by_run(config: Path) -> tuple[str, int]:
    """Start a daemon up to the point at which it would look for a broker."""
    with pytest.raises(StreamlearnError) as refused:
        Daemon(load(config), lambda: True)
    return str(refused.value), refused.value.exit_code


@pytest.mark.parametrize(("sections", "message"), BAD, ids=lambda each: str(each)[:60])
def test_check_and_run_refuse_the_same_settings_with_the_same_words(
    tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    ours = {"metrics": {"port": 0}, "checkpoint": {"directory": str(tmp_path / "state")}}
    config = write_config(tmp_path / "config.yaml", **ours | sections)
    [found] = check(config, [], False, 1.0)
    assert (found.ok, found.exit_code) == (False, 78)
    assert message in found.message
    assert refused_by_run(config) == (found.message, found.exit_code)
    assert not (tmp_path / "state").exists()


def test_what_is_fine_is_accepted_without_a_broker(tmp_path: Path) -> None:
    settings = {
        "bootstrap_servers": "[::1]:9092, PLAINTEXT://kafka-0.kafka:9092,::1,10.0.0.1",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "u",
        "sasl_plain_password": "p",
        "compression_type": None,
        "api_version": [2, 8],
        "request_timeout_ms": 20_000,
    }
    config = write_config(tmp_path / "config.yaml", kafka=settings, metrics={"port": 0})
    assert all(found.ok for found in check(config, [], False, 1.0))
