"""`streamlearn run`: start the daemon."""

import logging
from typing import Annotated

import typer

from streamlearn.cli.options import ConfigFile, Set

_logger = logging.getLogger(__name__)


UntilCaughtUp = Annotated[
    bool,
    typer.Option(
        "--until-caught-up",
        help="Save a checkpoint and exit with 0 once all is learned that was in the topics at the start.",
    ),
]


def run(config: ConfigFile, set_: Set = None, until_caught_up: UntilCaughtUp = False) -> None:
    """Learn from Kafka until stopped, starting from the newest checkpoint.

    SIGTERM and Ctrl-C stop cleanly: the current batch is finished and saved. A second signal stops at once,
    which is safe: the records since the last checkpoint are learned again at the next start.
    """
    from streamlearn.app.stop import stop_on_signals
    from streamlearn.config.load import load
    from streamlearn.errors import StreamlearnError
    from streamlearn.telemetry.logs import configure, emit

    settings = load(config, set_ or [])
    configure(settings.log.format, settings.log.level)
    with stop_on_signals() as stopping:
        with stopping.at_once():
            from streamlearn.app.run import Daemon

        try:
            daemon = Daemon(settings, stopping, at_once=stopping.at_once, until_caught_up=until_caught_up)
            daemon.run()
        except StreamlearnError as error:
            # One line, in the format of the log.
            emit(_logger, logging.ERROR, "failed", error=str(error), exit_code=error.exit_code)
            raise typer.Exit(error.exit_code) from None
