"""Where a run of the demo is seen: in a live view, or in log lines where there is no terminal for it."""

import logging
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from rich.console import Console

from streamlearn.app.stop import stop_on_signals
from streamlearn.demo.run_options import Plan
from streamlearn.demo.totals import Totals
from streamlearn.demo.view import LiveView, Scene, fits
from streamlearn.telemetry.logs import configure, emit

if TYPE_CHECKING:
    from streamlearn.demo.runner import Demo

_logger = logging.getLogger(__name__)


class Stage:
    """Runs a plan before an audience.

    Parameters
    ----------
    console : standard output.
    live : show the live view if the console can; else log to standard error.
    """

    def __init__(self, plan: Plan, console: Console, live: bool = True) -> None:
        self._plan = plan
        self._tally = Totals(plan.change_at)
        self._scene = Scene(span=plan.span)
        self._view = LiveView(self._tally, self._scene, console) if live and fits(console) else None
        self._demo: Demo | None = None

    def run(self) -> dict[str, Any]:
        """Run to the end and give the summary.

        Raises
        ------
        StreamlearnError : with the exit code that fits.
        """
        with ExitStack() as stack:
            self._scene.asked = stack.enter_context(stop_on_signals(self._leave))
            stack.enter_context(self._view or nullcontext())
            if not self._view:
                configure()
            # Loads the compiler and the Kafka client: seconds, during which the view is there already.
            from streamlearn.demo.runner import Demo, load_config

            config = load_config(self._plan)
            if not self._view:
                configure(config.log.format, config.log.level)
            self._demo = Demo(self._plan, config, self._tally, self._scene, self._say, self._scene.asked)
            self._demo.run()
        return self._tally.summary() | {"metrics_url": self._scene.url}

    def _say(self, step: str) -> None:
        self._scene.phase = step
        if not self._view:
            emit(_logger, logging.INFO, step)

    def _leave(self) -> None:
        if self._demo:
            self._demo.abandon()
        if self._view:
            self._view.abandon()
