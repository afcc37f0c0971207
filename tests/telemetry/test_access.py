import base64
import http.client
import socket
import ssl
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from streamlearn.errors import ConfigError
from streamlearn.telemetry.access import Access
from streamlearn.telemetry.health import Health
from streamlearn.telemetry.server import Server
from streamlearn.telemetry.status import Status
from tests.certificates import Authority
from tests.cli.command import streamlearn

SECRET = "hunter2: π"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


def serve(access):
    status = Status({"version": "0", "model": "np", "learner": "adf"}, lambda: {"sequences": []}, list)
    return Server("127.0.0.1", 0, CollectorRegistry(), Health(), status.snapshot, access)


@pytest.fixture
def guarded():
    with serve(Access(username="jo", password=SECRET)) as server:
        yield server


@pytest.fixture
def encrypted(authority):
    with serve(Access(*authority.server(), username="jo", password=SECRET)) as server:
        yield server


def get(server, path, login=None, authority=None):
    address = server.url.split("://")[1]
    if server.url.startswith("https"):
        context = ssl.create_default_context(cafile=authority.certificate)
        connection = http.client.HTTPSConnection(address, timeout=5, context=context)
    else:
        connection = http.client.HTTPConnection(address, timeout=5)
    headers = {} if login is None else {"Authorization": login}
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, body, response.headers.get("WWW-Authenticate")


def basic(login):
    return "Basic " + base64.b64encode(login.encode()).decode()


@pytest.mark.parametrize("path", ["/", "/metrics", "/status.json", "/nothing"])
def test_who_does_not_log_in_sees_nothing(guarded, path):
    for login in (
        None,
        "",
        "Basic",
        basic("jo:"),
        basic(f"jo:{SECRET} "),
        basic(f"al:{SECRET}"),
        "Bearer x",
        "\xff",
    ):
        status, body, challenge = get(guarded, path, login)
        assert (status, challenge) == (401, 'Basic realm="streamlearn", charset="UTF-8"')
        assert body == "user and password required\n"


def test_who_logs_in_sees_all(guarded):
    assert get(guarded, "/metrics", basic(f"jo:{SECRET}"))[0] == 200
    assert get(guarded, "/status.json", basic(f"jo:{SECRET}").replace("Basic", "basic"))[0] == 200


def test_probes_are_open(guarded):
    assert get(guarded, "/healthz")[0] == 200
    assert get(guarded, "/readyz")[0] == 503


def test_tls_is_spoken(encrypted, authority):
    assert encrypted.url.startswith("https://")
    assert get(encrypted, "/healthz", authority=authority)[0] == 200
    assert get(encrypted, "/metrics", basic(f"jo:{SECRET}"), authority)[0] == 200


def test_who_does_not_know_the_authority_does_not_talk(encrypted, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        get(encrypted, "/healthz", authority=Authority(tmp_path))


def test_who_says_nothing_or_no_tls_keeps_nobody_waiting(encrypted, authority, capfd):
    address = ("127.0.0.1", int(encrypted.url.rpartition(":")[2]))
    with socket.create_connection(address), socket.create_connection(address) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert get(encrypted, "/healthz", authority=authority)[0] == 200
        plain.settimeout(5)
        plain.recv(100)
    assert "Traceback" not in capfd.readouterr().err


def test_connections_have_a_limit(guarded):
    address = ("127.0.0.1", int(guarded.url.rpartition(":")[2]))
    silent = [socket.create_connection(address) for _ in range(64)]
    with socket.create_connection(address) as one_more:
        # The silent ones are heard for ten seconds.
        one_more.settimeout(9)
        assert one_more.recv(1) == b""
    for each in silent:
        each.close()


def test_a_certificate_that_is_none_is_refused(authority, tmp_path):
    certificate, key = authority.server()
    (tmp_path / "empty").write_text("")
    for files in (
        (tmp_path / "nothing", key),
        (tmp_path / "empty", key),
        (certificate, None),
        (key, certificate),
    ):
        with pytest.raises(ConfigError, match=r"^metrics\.tls_certificate: .*without a password$"):
            serve(Access(*files))


def top(monkeypatch, url, *options, password=None):
    if password:
        monkeypatch.setenv("STREAMLEARN_METRICS__PASSWORD", password)
    done = streamlearn("top", url, "--once", *options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_top_logs_in_by_url_or_variables(encrypted, authority, monkeypatch):
    ca = ("--ca-file", authority.certificate)
    quoted = f"https://jo:{urllib.request.quote(SECRET)}@{encrypted.url.removeprefix('https://')}/metrics"
    assert "np (adf)" in top(monkeypatch, quoted, *ca)[1]
    code, _, error = top(monkeypatch, encrypted.url, *ca)
    assert (code, "401" in error, error.count("\n")) == (64, True, 1)
    assert "np (adf)" in top(monkeypatch, encrypted.url, *ca, "--username", "jo", password=SECRET)[1]


def test_top_shows_no_password_where_nobody_answers(encrypted, monkeypatch):
    code, _, error = top(monkeypatch, encrypted.url.replace("://", "://jo:hunter2@"))
    assert (code, "certificate" in error, "hunter2" in error) == (64, True, False)
