"""`streamlearn top`: the live status of a running daemon in a terminal."""

import base64
import json
import os
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

import typer

from streamlearn.errors import UsageError

_TIMEOUT_SECONDS = 5.0


def top(
    url: Annotated[
        str, typer.Argument(help="URL at which the daemon serves its metrics.", metavar="URL")
    ] = "http://127.0.0.1:9464",
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between updates.")] = 1.0,
    ca_file: Annotated[
        Path | None,
        typer.Option(
            "--ca-file", help="PEM file with the CA certificate that signed the daemon's.", show_default=False
        ),
    ] = None,
    username: Annotated[
        str | None,
        typer.Option(
            "--username", help="User name for basic authentication.", envvar="STREAMLEARN_METRICS__USERNAME"
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print the status once and exit.")] = False,
) -> None:
    """Watch a running daemon: learning curve, scores by label, lag, drift. Ctrl-C leaves it running.

    The password is read from STREAMLEARN_METRICS__PASSWORD; the URL may also contain user and password.
    """
    from rich.console import Console
    from rich.live import Live

    from streamlearn.terminal.board import Board, without_answer

    try:
        read_status = _StatusReader(url, ca_file, username)
        status = read_status()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{_shown(url)}: no daemon answers: {_cause(error)}; use the URL that `run` logs"
        ) from None
    console = Console()
    if once:
        console.print(Board(status))
        return

    # Read at every update: the window may be resized.
    def board() -> Board:
        return Board(status, height=console.height)

    def lost(error: Exception) -> Board:
        silence = (
            f"no answer for {time.time() - answered:,.0f} s: {_cause(error)}; the figures are the last known"
        )
        return Board(without_answer(status, time.time()), silence, height=console.height)

    answered = time.time()
    with Live(board(), console=console, screen=True, auto_refresh=False) as live:
        while True:
            try:
                time.sleep(every)
                status, answered = read_status(), time.time()
                live.update(board(), refresh=True)
            except KeyboardInterrupt:
                return
            except (OSError, ValueError) as error:
                live.update(lost(error), refresh=True)


class _StatusReader:
    """Reads the status of a daemon over HTTP."""

    def __init__(self, url: str, ca_file: Path | None, username: str | None) -> None:
        parts = urlsplit(url if url.startswith(("http://", "https://")) else f"http://{url}")
        address = parts.netloc.rpartition("@")[2]
        base = f"{parts.scheme}://{address}{parts.path}".rstrip("/").removesuffix("/metrics")
        self._request = urllib.request.Request(f"{base}/status.json")  # noqa: S310 - http only
        user = unquote(parts.username or "") or username
        password = unquote(parts.password or "") or os.environ.get("STREAMLEARN_METRICS__PASSWORD", "")
        if user:
            login = base64.b64encode(f"{user}:{password}".encode()).decode()
            # Not redirected: no other host that the answer names may receive the login.
            self._request.add_unredirected_header("Authorization", f"Basic {login}")
        self._context = ssl.create_default_context(cafile=ca_file)

    def __call__(self) -> dict[str, Any]:
        with urllib.request.urlopen(  # noqa: S310 - http only
            self._request, timeout=_TIMEOUT_SECONDS, context=self._context
        ) as answer:
            status = json.load(answer)
        if not isinstance(status, dict) or "about" not in status:
            raise ValueError("the answer is not a streamlearn status")
        return status


def _cause(error: Exception) -> str:
    """Return why a request failed, in words: the cause of urllib's errors without their brackets."""
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}".lower()
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    strerror = getattr(cause, "strerror", None)
    return (strerror or str(cause) or type(cause).__name__).lower()


def _shown(url: str) -> str:
    """Return a URL without user and password."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
