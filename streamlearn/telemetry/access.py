"""Who may see what the daemon serves: TLS, and a user who logs in."""

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
    """How the server is reached.

    Attributes
    ----------
    certificate, key : PEM files; no certificate is no TLS, no key that it is in the certificate's file.
    username, password : of basic authentication (RFC 7617); none asked for without a username.
    """

    certificate: Path | None = None
    key: Path | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext | None:
        """Give the TLS that the server speaks, 1.2 or newer, or None for none.

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
                f"metrics.tls_certificate: {files}: {error}; wanted both in PEM, the key without a password"
            ) from None
        return context

    def guarded(self, application: "WSGIApplication", open_to_all: Collection[str]) -> "WSGIApplication":
        """Give the application with everything but some paths behind the login."""
        if self.username is None:
            return application
        wanted = base64.b64encode(f"{self.username}:{self.password}".encode())

        def guard(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
            scheme, _, given = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
            is_known = scheme.lower() == "basic" and hmac.compare_digest(given.strip().encode(), wanted)
            if is_known or environ["PATH_INFO"] in open_to_all:
                return application(environ, start_response)
            status = HTTPStatus.UNAUTHORIZED
            headers = [("WWW-Authenticate", _CHALLENGE), ("Content-Type", "text/plain; charset=utf-8")]
            start_response(f"{status.value} {status.phrase}", headers)
            return [b"user and password are wanted\n"]

        return guard
