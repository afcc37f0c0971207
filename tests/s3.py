"""An S3 server in this process: moto's, which knows conditional writes."""

import threading
import urllib.request

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server


class S3Server:
    """Listens on localhost; stopped and started again it has the same port and the same objects.

    It answers one request at a time: moto looks at a condition and writes in two steps.
    """

    bucket = "states"

    def __init__(self) -> None:
        self._port = 0
        self._server: BaseWSGIServer | None = None
        self.start()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{self.bucket}", method="PUT")).close()

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs; one attempt each, so that failures come soon."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
        }

    def start(self) -> None:
        """Listen."""
        app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", self._port, app, request_handler=MotoRequestHandler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
