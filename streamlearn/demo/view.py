"""The live view of the demo in a terminal."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from streamlearn.telemetry.status import Status
from streamlearn.terminal.accuracy_chart import Annotations
from streamlearn.terminal.board import Board

# Lines printed below the last picture: the result and the prompt.
_CLOSING = 5
_RESTORE = "\x1b[?1049l\x1b[?25h"
_NO_DAEMON_YET = Status({"version": "", "model": "", "learner": ""}, lambda: {"sequences": []}, list)


def fits(console: Console) -> bool:
    """Return whether the console can show the view: a terminal with cursor control and Unicode."""
    return console.is_terminal and not console.is_dumb_terminal and console.encoding.startswith("utf")


@dataclass(slots=True)
class ViewState:
    """What the view shows; may be changed at any time.

    Attributes
    ----------
    phase : the current step in words.
    source : where the data comes from, in one line.
    url, url_note : of the metrics, and a remark on it.
    change_at : sequence number of the distribution shift.
    span : sequences on the axis of the chart, at least.
    best : the best possible accuracy before and after the shift.
    warning : the last one logged.
    status : of the daemon.
    asked : returns whether a stop was requested.
    """

    phase: str = "loading"
    source: str = ""
    url: str = ""
    url_note: str = ""
    change_at: int = 0
    span: int = 1
    best: tuple[float, float] | None = None
    warning: str = ""
    status: Status = _NO_DAEMON_YET
    asked: Callable[[], bool] = lambda: False

    def annotations(self) -> Annotations:
        """Return what the chart shows in addition to the curve."""
        levels = dict(zip((0, self.change_at), self.best or (), strict=False))
        mark = self.change_at if self.best else None
        return Annotations(self.span, mark, "distribution shift", levels, "best possible")


class LiveView:
    """Redraws a few times per second inside a ``with`` block; the last picture stays.

    Parameters
    ----------
    state : what to show.
    console : where to draw, see `fits`.
    """

    def __init__(self, state: ViewState, console: Console) -> None:
        self._state = state
        self._console = console
        self._spinner = Spinner("dots", style="green")
        self._live = Live(self, console=console, screen=True, refresh_per_second=8)
        self._handler = _Warnings(state)

    def __enter__(self) -> Self:
        # A log line in the middle of the picture would break it.
        logging.basicConfig(level=logging.WARNING, handlers=[self._handler], force=True)
        logging.getLogger("kafka").setLevel(logging.ERROR)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        if self._state.status is not _NO_DAEMON_YET:
            self._console.print(self)

    def abandon(self) -> None:
        """Restore the terminal immediately: the process is about to exit."""
        with suppress(OSError, RuntimeError):
            self._console.file.write(_RESTORE)
            self._console.file.flush()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw."""
        state, status = self._state, self._state.status.snapshot()
        yield Board(
            status,
            note=state.warning,
            title=self._title(status["state"]),
            hint="Ctrl-C stops" if status["state"] != "stopped" else "",
            header=(state.source or " ", f"metrics {state.url}{state.url_note}" if state.url else " ", ""),
            annotations=state.annotations(),
            height=console.height - (0 if self._live.is_started else _CLOSING),
        )

    def _title(self, state: str) -> Text:
        busy = state not in ("stopped", "failed")
        sign = self._spinning() if busy else Text("■", "green")
        phase = self._state.phase
        if busy and self._state.asked() and not phase.startswith("stop"):
            phase = f"stopping after this step: {phase}"
        return Text.assemble(" streamlearn demo  ", sign, f" {phase} ", style="bold not dim")

    def _spinning(self) -> Text:
        frame = self._spinner.render(self._console.get_time())
        return frame if isinstance(frame, Text) else Text(str(frame))


class _Warnings(logging.Handler):
    """Shows the last warning in the view."""

    def __init__(self, state: ViewState) -> None:
        super().__init__(logging.WARNING)
        self._state = state

    def emit(self, record: logging.LogRecord) -> None:
        fields = getattr(record, "fields", {})
        words = [record.getMessage(), *(f"{name}={_short(value)}" for name, value in fields.items())]
        self._state.warning = " ".join(" ".join(words).split())


def _short(value: object) -> object:
    return f"{value:.3g}" if isinstance(value, float) else value
