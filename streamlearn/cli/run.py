"""`streamlearn run`: the daemon."""

import logging

import typer

from streamlearn.cli.options import ConfigFile, Set

_logger = logging.getLogger(__name__)


def run(config: ConfigFile, set_: Set = None) -> None:
    """Learn from Kafka until stopped; go on from the newest checkpoint.

    SIGTERM or Ctrl-C stop cleanly: the batch in hand is finished and saved. A second one stops at once,
    which is safe and costs the work since the last checkpoint.
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
            Daemon(settings, stopping, at_once=stopping.at_once).run()
        except StreamlearnError as error:
            # The one line about it, in the format that the log has.
            emit(_logger, logging.ERROR, "failed", error=str(error), exit_code=error.exit_code)
            raise typer.Exit(error.exit_code) from None
