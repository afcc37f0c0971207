"""A demo run in the foreground: with a live view, or with log lines if the output is not a terminal."""

import logging
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from rich.console import Console

from streamlearn.app.stop import stop_on_signals
from streamlearn.demo.demo_options import DemoOptions
from streamlearn.demo.summary import Summary
from streamlearn.demo.view import LiveView, ViewState, fits
from streamlearn.telemetry.logs import configure, emit

if TYPE_CHECKING:
    from streamlearn.demo.runner import Demo

_logger = logging.getLogger(__name__)


class DemoSession:
    """Runs the demo once and shows it.

    Parameters
    ----------
    options : of the run.
    console : standard output.
    live : show the live view if the console supports it; else log to standard error.
    """

    def __init__(self, options: DemoOptions, console: Console, live: bool = True) -> None:
        self._options = options
        self._summary = Summary(options.change_at)
        self._state = ViewState(change_at=options.change_at, span=options.span)
        self._view = LiveView(self._state, console) if live and fits(console) else None
        self._demo: Demo | None = None

    def run(self) -> dict[str, Any]:
        """Run to the end and return the summary.

        Raises
        ------
        StreamlearnError : the broker, the producer or the daemon failed.
        """
        with ExitStack() as stack:
            self._state.asked = stack.enter_context(stop_on_signals(self._abandon))
            stack.enter_context(self._view or nullcontext())
            if not self._view:
                configure()
            # Takes seconds to load the compiler and the Kafka client; the view is shown meanwhile.
            from streamlearn.demo.runner import Demo, load_config

            config = load_config(self._options)
            if not self._view:
                configure(config.log.format, config.log.level)
            self._demo = Demo(self._options, config, self._summary, self._state, self._report)
            self._demo.run()
        return self._summary.figures() | {"metrics_url": self._state.url}

    def _report(self, step: str) -> None:
        self._state.phase = step
        if not self._view:
            emit(_logger, logging.INFO, step)

    def _abandon(self) -> None:
        if self._demo:
            self._demo.abandon()
        if self._view:
            self._view.abandon()
