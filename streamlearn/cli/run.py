"""`streamlearn run`: start the daemon."""

import logging
import platform
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from streamlearn import __version__
from streamlearn.cli.options import ConfigFile, Set

if TYPE_CHECKING:
    from streamlearn.config.schema import Config

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

    SIGHUP rereads the configuration: log, intervals between checkpoints and drift.actions change at once, and
    the log says which other changes need a restart. With a terminal, it means that the terminal was closed,
    and stops cleanly.
    """
    from streamlearn.app.stop import stop_on_signals
    from streamlearn.config.load import load
    from streamlearn.errors import StreamlearnError
    from streamlearn.telemetry.logs import configure, emit

    settings = load(config, set_ or [])
    run_id = uuid.uuid4().hex
    about = {"model": settings.model, "run_id": run_id, "version": __version__, "host": platform.node()}
    configure(settings.log.format, settings.log.level, about=about)
    with stop_on_signals() as stopping:
        with stopping.at_once():
            from streamlearn.app.run import Daemon

        def reread() -> "Config | None":
            return load(config, set_ or []) if stopping.reload_requested() else None

        try:
            daemon = Daemon(
                settings,
                stopping,
                at_once=stopping.at_once,
                reread=reread,
                run_id=run_id,
                until_caught_up=until_caught_up,
            )
            daemon.run()
        except StreamlearnError as error:
            # One line, in the format of the log.
            emit(_logger, logging.ERROR, "failed", error=str(error), exit_code=error.exit_code)
            raise typer.Exit(error.exit_code) from None
