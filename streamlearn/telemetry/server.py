"""The HTTP endpoints: metrics for Prometheus, health checks, and the status page."""

import json
import logging
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from importlib.resources import files
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from streamlearn.errors import TelemetryError
from streamlearn.telemetry.access import Access
from streamlearn.telemetry.health import Health, HealthStatus
from streamlearn.telemetry.listening import address, local_url

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_logger = logging.getLogger(__name__)

_PATHS = {
    "/": "the status page",
    "/status.json": "the data of the status page",
    "/metrics": "metrics in the Prometheus and OpenMetrics text formats",
    "/healthz": "200 while the loop makes progress, else 503",
    "/readyz": "200 while the state is loaded and a broker is connected, else 503",
}
_PROBES = ("/healthz", "/readyz")
_POLL_SECONDS = 0.1
# A few scrapers, probes and people at most; each connection has its own thread.
_MAX_CONNECTIONS = 64
_PAGE = files("streamlearn.telemetry").joinpath("status.html")
# The page is self-contained: nothing may be fetched from elsewhere, whatever the stream contains.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class Server:
    """Serves on its own thread; a scrape never blocks the loop.

    Parameters
    ----------
    host, port : where to listen; port 0 picks a free one, see `url`.
    registry : the metrics.
    health : checked at each request.
    status : returns the data of the status page.
    access : TLS and login.

    Raises
    ------
    TelemetryError : the address is in use, not permitted or not of this machine.
    ConfigError : the certificate cannot be used.

    Examples
    --------
    >>> import urllib.request
    >>> with Server("127.0.0.1", 0, CollectorRegistry(), Health()) as server:
    ...     urllib.request.urlopen(server.url + "/healthz").read().decode().strip()
    'starting'
    """

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        health: Health,
        status: Callable[[], Mapping[str, Any]] = dict,
        access: Access = Access(),  # noqa: B008 - it is frozen
    ) -> None:
        context = access.context()
        try:
            self._http = _listen(host, port)
        # UnicodeError: a host name with an empty label or one longer than 63 characters.
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"metrics: cannot listen on {address(host, port)}: {reason}; choose another port"
            raise TelemetryError(message) from error
        self._http.set_app(access.guarded(_application(registry, health, status), open_to_all=_PROBES))
        self._http.context = context
        bound: int = self._http.server_address[1]
        self.url = local_url(host, bound, tls=context is not None)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_SECONDS,), name="telemetry", daemon=True
        )

    def start(self) -> None:
        """Start serving; connections made before wait."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving and release the port; safe to call twice."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    # A scrape that hangs must not keep the process from ending.
    block_on_close = False
    request_queue_size = _MAX_CONNECTIONS
    context: ssl.SSLContext | None = None

    def __init__(self, *args: Any) -> None:
        self._free = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        super().__init__(*args)

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        if self.context:
            # The handshake happens at the first read, on the connection's own thread and with its timeout:
            # a silent client must not delay the probes of others.
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        # Clients that disconnect, time out or do not speak TLS are not worth a log line.
        if not isinstance(sys.exception(), OSError):
            _logger.exception("request from %s failed", client_address)

    def server_bind(self) -> None:
        # HTTPServer looks up the name of the host here, which takes many seconds where DNS is broken.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()


class _ThreadingServer6(_ThreadingServer):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: a line per scrape would bury the events."""


def _listen(host: str, port: int) -> _ThreadingServer:
    server = _ThreadingServer6 if ":" in host else _ThreadingServer
    return server((host, port), _Handler)


def _application(
    registry: CollectorRegistry, health: Health, status: Callable[[], Mapping[str, Any]]
) -> "WSGIApplication":
    metrics: WSGIApplication = make_wsgi_app(registry)
    page = _PAGE.read_text("utf-8")
    verdicts: dict[str, Callable[[], HealthStatus]] = {"/healthz": health.alive, "/readyz": health.ready}

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _text(start_response, HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD\n")
        if path == "/metrics":
            return metrics(environ, start_response)
        if path in verdicts:
            ok, reason = verdicts[path]()
            code = HTTPStatus.OK if ok else HTTPStatus.SERVICE_UNAVAILABLE
            return _text(start_response, code, reason + "\n")
        if path == "/status.json":
            return _text(start_response, HTTPStatus.OK, json.dumps(status()), "application/json")
        if path == "/":
            return _text(start_response, HTTPStatus.OK, page, "text/html")
        return _text(
            start_response, HTTPStatus.NOT_FOUND, "not found; available:\n" + "\n".join(_PATHS) + "\n"
        )

    return application


def _text(
    start_response: "StartResponse", status: HTTPStatus, text: str, kind: str = "text/plain"
) -> list[bytes]:
    body = text.encode()
    headers = [
        ("Content-Type", f"{kind}; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", _POLICY),
        ("X-Content-Type-Options", "nosniff"),
    ]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]
