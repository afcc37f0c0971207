import gzip
import http.client
import json
import re
import socket

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from streamlearn.errors import StreamlearnError
from streamlearn.events import StateChanged
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.server import Server
from tests.telemetry import examples


@pytest.fixture
def registry():
    registry = CollectorRegistry()
    Counter("records", "Records.", registry=registry).inc(3)
    return registry


@pytest.fixture
def health():
    return Health()


@pytest.fixture
def server(registry, health):
    with Server("127.0.0.1", 0, registry, health) as server:
        yield server


def get(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    connection.request(
        method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def value(families):
    return {family.name: family.samples[0].value for family in families}["records"]


def test_metrics_as_text(server):
    response, body = get(server, "/metrics")
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert value(parse_text(body.decode())) == 3


def test_metrics_as_openmetrics_and_compressed_for_who_asks(server):
    response, body = get(
        server, "/metrics", Accept="application/openmetrics-text; version=1.0.0", Accept_Encoding="gzip"
    )
    assert response.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert value(parse_openmetrics(gzip.decompress(body).decode())) == 3


def test_health_and_readiness(server, health):
    assert get(server, "/healthz")[0].status == 200
    response, body = get(server, "/readyz")
    assert (response.status, body) == (503, b"starting\n")
    health(StateChanged("running"))
    health(examples.polled())
    assert get(server, "/readyz")[1] == b"running\n"
    health(StateChanged("failed"))
    assert get(server, "/healthz")[0].status == 503


def test_the_status_page_leads_to_all_paths_and_may_fetch_nothing_from_elsewhere(server):
    response, body = get(server, "/")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    for path in (b"metrics", b"healthz", b"readyz", b"status.json"):
        assert b'href="%s"' % path in body
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", body)


def test_what_the_status_page_shows_is_json(registry, health):
    with Server("127.0.0.1", 0, registry, health, lambda: {"state": "running"}) as server:
        response, body = get(server, "/status.json")
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(body) == {"state": "running"}


def test_other_paths_are_not_found_and_the_answer_lists_those_available(server):
    response, body = get(server, "/favicon.ico")
    assert response.status == 404
    assert body == b"not found; available:\n/\n/status.json\n/metrics\n/healthz\n/readyz\n"


@pytest.mark.parametrize("path", ["/", "/status.json", "/metrics", "/healthz"])
def test_nothing_can_be_changed(server, path):
    assert get(server, path, method="POST")[0].status == 405


def test_a_taken_port_is_one_line_and_an_exit_code(server, registry, health):
    port = int(server.url.rsplit(":", 1)[1])
    with pytest.raises(StreamlearnError) as caught:
        Server("127.0.0.1", port, registry, health)
    assert str(caught.value) == (
        f"metrics: cannot listen on 127.0.0.1:{port}: Address already in use; choose another port"
    )
    assert caught.value.exit_code == 78


@pytest.mark.parametrize(
    ("host", "port"),
    [("192.0.2.1", 0), ("no.such.host.invalid", 0), ("127.0.0.1", 70_000), (f"{'a' * 64}.b", 0)],
)
def test_an_impossible_address_is_told(registry, health, host, port):
    with pytest.raises(StreamlearnError, match=r"cannot listen on [^\n]+$") as refused:
        Server(host, port, registry, health)
    assert "Unknown error" not in str(refused.value)


def test_a_closed_server_gives_its_port_back(registry, health):
    server = Server("127.0.0.1", 0, registry, health)
    server.start()
    server.close()
    server.close()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))


def test_all_interfaces_are_reached_at_a_real_address(registry, health):
    with Server("0.0.0.0", 0, registry, health) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert get(server, "/healthz")[0].status == 200


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_ipv6(registry, health):
    with Server("::1", 0, registry, health) as server:
        assert server.url.startswith("http://[::1]:")
        assert get(server, "/healthz")[0].status == 200
