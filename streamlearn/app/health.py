"""Asking a running daemon whether it is healthy: cheap enough for a probe that starts a process each time."""

import ssl
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from streamlearn.errors import UsageError
from streamlearn.telemetry.listening import local_url

# Less than the timeouts that probes usually have, so that the reason is printed before they end.
_TIMEOUT_SECONDS = 3.0
_LONGEST_ANSWER = 500


def ask(where: str, overrides: Sequence[str], *, ready: bool, ca_file: Path | None) -> tuple[bool, str]:
    """Ask the daemon of a configuration, on this machine, or the one at a URL.

    Parameters
    ----------
    where : a configuration file, or a URL at which a daemon serves its metrics.
    overrides : the `--set` options of the daemon.
    ready : ask whether it learns new records, not only whether its loop runs.
    ca_file : with a URL, who signed the daemon's certificate.

    Returns
    -------
    Whether it is, and the reason in one line.

    Raises
    ------
    UsageError, ConfigError : it is unknown whom to ask.
    """
    if "://" in where:
        parts, context = urlsplit(where), ssl.create_default_context(cafile=ca_file)
    else:
        parts, context = urlsplit(_url(Path(where), overrides)), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # A probe sends no secret, and a restart would not mend a certificate that has expired.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{where}: {error}; use the URL that `run` logs") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{where}: wanted a configuration file, or the URL that `run` logs")
    path = parts.path.rstrip("/").removesuffix("/metrics") + ("/readyz" if ready else "/healthz")
    try:
        return _get(parts, port, path, context)
    except (OSError, HTTPException, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return False, f"{parts.hostname}:{port or parts.scheme}: no answer: {reason}"


def _url(config: Path, overrides: Sequence[str]) -> str:
    # It takes longer than all the rest, and a URL needs none of it.
    from streamlearn.config.load import load

    served = load(config, overrides).metrics
    if served.port == 0:
        raise UsageError("metrics.port is 0: each start chooses another port; give the URL that `run` logs")
    return local_url(served.host, served.port, tls=served.tls_certificate is not None)


def _get(parts: SplitResult, port: int | None, path: str, context: ssl.SSLContext) -> tuple[bool, str]:
    # Not by urllib, which would use the proxy of the environment, for 127.0.0.1, too.
    host = parts.hostname or ""
    connection = (
        HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=context)
        if parts.scheme == "https"
        else HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
    )
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read(_LONGEST_ANSWER).decode(errors="replace").strip()
    finally:
        connection.close()
    if answer.status in (200, 503):
        return answer.status == 200, "".join(filter(str.isprintable, text)) or str(answer.status)
    return False, f"{answer.status} {answer.reason}: not the health of a daemon"
