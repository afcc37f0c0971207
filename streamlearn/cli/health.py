"""`streamlearn health`: whether a running daemon is healthy, for health checks."""

from pathlib import Path
from typing import Annotated

import typer

from streamlearn.cli.options import Set


def health(
    where: Annotated[
        str,
        typer.Argument(
            help="Configuration file of the daemon, or the URL at which it serves its metrics.",
            metavar="CONFIG|URL",
        ),
    ],
    ready: Annotated[
        bool, typer.Option("--ready", help="Ask /readyz, whether it learns, and not /healthz.")
    ] = False,
    ca_file: Annotated[
        Path | None,
        typer.Option(
            "--ca-file", help="With a URL: PEM file with the CA certificate that signed the daemon's."
        ),
    ] = None,
    set_: Set = None,
) -> None:
    """Ask a running daemon whether it is healthy; print the reason, and exit with 0 if so and 1 if not.

    With a configuration, the daemon on this machine is asked, at its port, with TLS if it has a certificate.
    """
    from streamlearn.app.health import ask

    healthy, reason = ask(where, set_ or [], ready=ready, ca_file=ca_file)
    print(reason)
    raise typer.Exit(0 if healthy else 1)
