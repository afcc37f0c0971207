"""`streamlearn health`, as the health check of a container calls it."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from typer.testing import CliRunner

from streamlearn.cli.main import app
from streamlearn.events import StateChanged
from streamlearn.telemetry.access import Access
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.server import Server
from tests.certificates import Authority
from tests.cli.command import streamlearn
from tests.sequences import write_config
from tests.telemetry import examples


def asked(*arguments: object) -> tuple[int, str]:
    """Return the exit code, and the one line."""
    done = CliRunner().invoke(app, ["health", *map(str, arguments)])
    [line] = done.output.splitlines()
    return done.exit_code, line


def serve(host: str = "127.0.0.1", access: Access = Access()) -> Server:  # noqa: B008
    return Server(host, 0, CollectorRegistry(), Health(), access=access)


def port_of(server: Server) -> int:
    return int(server.url.rpartition(":")[2])


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def test_it_tells_healthy_from_ready() -> None:
    health = Health()
    with Server("127.0.0.1", 0, CollectorRegistry(), health) as server:
        assert asked(server.url) == (0, "starting")
        assert asked(server.url, "--ready") == (1, "starting")
        health(StateChanged("running"))
        assert asked(server.url, "--ready") == (1, "no broker answers")
        health(examples.polled())
        assert asked(f"{server.url}/metrics", "--ready") == (0, "running")
        health(StateChanged("failed"))
        assert asked(server.url) == (1, "failed")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_configuration_tells_host_port_and_tls_and_no_login_is_needed(
    host: str, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = authority.server()
    (tmp_path / "password").write_text("secret\n")
    metrics = {
        "host": host,
        "tls_certificate": str(certificate),
        "tls_key": str(key),
        "username": "jo",
        "password_file": "password",
    }
    # A proxy would answer for 127.0.0.1 in the place of the daemon.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with serve(host, Access(certificate, key, "jo", "secret")) as server:
        config = write_config(tmp_path / "config.yaml", metrics={**metrics, "port": port_of(server)})
        assert asked(config) == (0, "starting")
        # The options and variables of the daemon count here, too.
        assert asked(config, "--set", "metrics.port=1")[0] == 1
        monkeypatch.setenv("STREAMLEARN_METRICS__PORT", "1")
        assert asked(config)[0] == 1


def test_a_url_is_asked_only_where_the_certificate_is_trusted(authority: Authority) -> None:
    with serve(access=Access(*authority.server())) as server:
        assert asked(server.url, "--ca-file", authority.certificate) == (0, "starting")
        code, line = asked(server.url)
        assert (code, "certificate" in line) == (1, True)


class Teapot(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(418)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def teapot() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Teapot) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_whatever_is_not_a_healthy_daemon_is_one_line_and_exit_code_1(teapot: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = f"http://127.0.0.1:{silent.getsockname()[1]}"
        code, line = asked(nobody)
        assert (code, line.endswith("no answer: timed out")) == (1, True)
    assert asked(nobody) == (1, f"{nobody.removeprefix('http://')}: no answer: Connection refused")
    assert asked(teapot)[0] == 1
    assert asked("http://a..b")[0] == 1


@pytest.mark.parametrize(
    ("where", "code"), [("ftp://a", 64), ("http://", 64), ("http://a:b", 64), ("nothing.yaml", 78)]
)
def test_whom_to_ask_must_be_known(where: str, code: int) -> None:
    done = streamlearn("health", where)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (code, b"", 1)


def test_a_port_that_is_chosen_at_the_start_cannot_be_in_a_configuration(tmp_path: Path) -> None:
    done = streamlearn("health", write_config(tmp_path / "config.yaml", metrics={"port": 0}))
    assert (done.returncode, b"URL" in done.stderr) == (64, True)


def test_a_probe_imports_nothing_that_takes_long(tmp_path: Path) -> None:
    config = write_config(tmp_path / "config.yaml", metrics={"port": 1})
    code = """
import sys
sys.argv = sys.argv[:1] + ["health", sys.argv[1]]
from streamlearn.cli.main import main
try:
    main()
except SystemExit:
    print(sorted({"numba", "numpy", "kafka", "river", "prometheus_client"} & sys.modules.keys()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, config], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "[]"
