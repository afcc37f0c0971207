"""Access to the HTTP endpoints: TLS and basic authentication."""

import base64
import hmac
import ssl
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from streamlearn.errors import ConfigError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_CHALLENGE = 'Basic realm="streamlearn", charset="UTF-8"'


@dataclass(frozen=True, slots=True)
class Access:
    """TLS and login of the HTTP server.

    Attributes
    ----------
    certificate, key : PEM files; no TLS without a certificate; without a key, its file holds both.
    username, password : of basic authentication (RFC 7617); off without a username.
    """

    certificate: Path | None = None
    key: Path | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext | None:
        """Return the server's TLS context (1.2 or newer), or None without a certificate.

        Raises
        ------
        ConfigError : the certificate or its key cannot be used.
        """
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            # Without a password OpenSSL would ask the terminal for that of an encrypted key.
            context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:
            files = " and ".join(str(path) for path in (self.certificate, self.key) if path)
            raise ConfigError(
                f"metrics.tls_certificate: {files}: {error}; both must be PEM, the key without a password"
            ) from None
        return context

    def guarded(self, application: "WSGIApplication", open_to_all: Collection[str]) -> "WSGIApplication":
        """Return the application with every path behind the login except those `open_to_all`."""
        if self.username is None:
            return application
        expected = base64.b64encode(f"{self.username}:{self.password}".encode())

        def guard(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
            scheme, _, given = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
            is_known = scheme.lower() == "basic" and hmac.compare_digest(given.strip().encode(), expected)
            if is_known or environ["PATH_INFO"] in open_to_all:
                return application(environ, start_response)
            status = HTTPStatus.UNAUTHORIZED
            headers = [("WWW-Authenticate", _CHALLENGE), ("Content-Type", "text/plain; charset=utf-8")]
            start_response(f"{status.value} {status.phrase}", headers)
            return [b"user and password required\n"]

        return guard
