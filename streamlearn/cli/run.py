"""`streamlearn run`: the daemon."""

from streamlearn.cli.options import ConfigFile, Set


def run(config: ConfigFile, set_: Set = None) -> None:
    """Learn from Kafka until stopped; go on from the newest checkpoint.

    SIGTERM or Ctrl-C stop cleanly: the batch in hand is finished and saved. A second one stops at once,
    which is safe and costs the work since the last checkpoint.
    """
    from streamlearn.config.layers import load
    from streamlearn.daemon.signals import stop_on_signals
    from streamlearn.telemetry.logs import configure

    settings = load(config, set_ or [])
    configure(settings.log.format, settings.log.level)
    with stop_on_signals() as stopping:
        with stopping.at_once():
            from streamlearn.app.daemon import Daemon

        Daemon(settings, stopping, at_once=stopping.at_once).run()
