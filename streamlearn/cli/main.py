"""The `streamlearn` command."""

import os
import re
import signal
import sys
from typing import Any, NoReturn

import typer

from streamlearn import __version__
from streamlearn.cli.broker import broker
from streamlearn.cli.check import check
from streamlearn.cli.checkpoints import checkpoints
from streamlearn.cli.deadletters import deadletters
from streamlearn.cli.demo import demo
from streamlearn.cli.evaluate import evaluate
from streamlearn.cli.health import health
from streamlearn.cli.init import init
from streamlearn.cli.inspect import inspect
from streamlearn.cli.predict import predict
from streamlearn.cli.produce import produce
from streamlearn.cli.quickstart import quickstart
from streamlearn.cli.report import report
from streamlearn.cli.run import run
from streamlearn.cli.top import top
from streamlearn.cli.tune import tune
from streamlearn.errors import CheckpointError, StreamlearnError, UsageError

_UNLIMITED_WIDTH = 10_000
# Typer exports only the errors that commands may raise.
_TyperUsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)
_COMMANDS = (
    *(demo, quickstart, init, broker, run, top, health),
    *(produce, evaluate, tune, predict, inspect, report, check),
)
for command in _COMMANDS:
    app.command()(command)
app.add_typer(checkpoints)
app.add_typer(deadletters)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"streamlearn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Learn structured models in one pass over labelled sequences in Kafka."""


def main() -> None:
    """Run a command; an invalid command line exits with 64, every other error with the code of its class."""
    _open_closed_streams()
    try:
        try:
            _run()
        finally:
            # Written here, where errors are reported, rather than while the interpreter ends.
            sys.stdout.flush()
            sys.stderr.flush()
    except StreamlearnError as error:
        _end(error.exit_code, f"streamlearn: {error}")
    except BrokenPipeError:
        # The reader of our output, such as head(1), has gone.
        _end(128 + signal.SIGPIPE)
    except OSError as error:
        _end(CheckpointError.exit_code, f"streamlearn: {error.filename or 'output'}: {error.strerror}")


def _run() -> None:
    is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    if not is_terminal:
        # Boxes and line breaks are for people; piped, everything stays on its line.
        app.rich_markup_mode = None
    try:
        width = {} if is_terminal else {"terminal_width": _UNLIMITED_WIDTH}
        exit_code = app(prog_name="streamlearn", standalone_mode=False, **width)
    except _TyperUsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(UsageError.exit_code)
        command = error.ctx.command_path if error.ctx else "streamlearn"
        raise UsageError(f"{_plain(error.format_message())}; see {command} --help") from None
    except typer.Abort:
        exit_code = 128 + signal.SIGINT
    sys.exit(exit_code or 0)


def _plain(message: str) -> str:
    """Return a message of the parser without the words of the library that checks values.

    >>> _plain("Invalid value for '--k-best': Input should be less than or equal to 16")
    "Invalid value for '--k-best': wanted less than or equal to 16"
    >>> _plain("Invalid value for '--seed': Input should be a valid integer, unable to parse string as one")
    "Invalid value for '--seed': wanted a whole number"
    """
    message = message.strip().removesuffix(".").replace("Value error, ", "")
    message = re.sub(r", unable to parse .*", "", message, flags=re.DOTALL).replace("integer", "whole number")
    return " ".join(re.sub(r"Input should be (an? )?(valid )?", r"wanted \1", message).split())


def _open_closed_streams() -> None:
    """Open closed standard streams as /dev/null, lest the next file that is opened take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - for the life of the process
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _end(exit_code: int, message: str = "") -> NoReturn:
    """Exit after an error; what is still buffered for a reader that has gone is discarded."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if message and stream is sys.stderr:
                print(message, file=stream)
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(exit_code)
