"""`streamlearn top`: a running daemon, seen from a terminal."""

import json
import time
import urllib.request
from typing import Annotated, Any

import typer

from streamlearn.errors import UsageError

_TIMEOUT_SECONDS = 5.0


def top(
    url: Annotated[
        str, typer.Argument(help="Where the daemon serves its metrics.", metavar="URL")
    ] = "http://127.0.0.1:9464",
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print one picture and end.")] = False,
) -> None:
    """Watch a running daemon: its learning curve, scores by label, lag, drift; Ctrl-C leaves it running."""
    from rich.console import Console
    from rich.live import Live

    from streamlearn.cli.board import Board

    try:
        status = _fetch(url)
    except (OSError, ValueError) as error:
        raise UsageError(f"{url}: no daemon answers: {error}; give the URL that `run` logs") from None
    console = Console()
    if once:
        console.print(Board(status))
        return
    with Live(Board(status), console=console, screen=True, auto_refresh=False) as live:
        while True:
            try:
                time.sleep(every)
                status = _fetch(url)
                live.update(Board(status), refresh=True)
            except KeyboardInterrupt:
                return
            except (OSError, ValueError) as error:
                live.update(Board(status, f"no answer: {error}"), refresh=True)


def _fetch(url: str) -> dict[str, Any]:
    if not url.startswith(("http://", "https://")):
        url = f"http://{url}"
    base = url.rstrip("/").removesuffix("/metrics")
    with urllib.request.urlopen(f"{base}/status.json", timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - http only
        status = json.load(answer)
    if not isinstance(status, dict) or "about" not in status:
        raise ValueError("what answers is no streamlearn")
    return status
