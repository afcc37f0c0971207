"""The `streamlearn` command."""

import os
import signal
import sys

import typer

from streamlearn import __version__
from streamlearn.cli.broker import broker
from streamlearn.cli.check import check
from streamlearn.cli.checkpoints import checkpoints
from streamlearn.cli.deadletters import deadletters
from streamlearn.cli.demo import demo
from streamlearn.cli.evaluate import evaluate
from streamlearn.cli.health import health
from streamlearn.cli.inspect import inspect
from streamlearn.cli.predict import predict
from streamlearn.cli.produce import produce
from streamlearn.cli.quickstart import quickstart
from streamlearn.cli.report import report
from streamlearn.cli.run import run
from streamlearn.cli.top import top
from streamlearn.cli.tune import tune
from streamlearn.errors import CheckpointError, StreamlearnError, UsageError

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)
_COMMANDS = (
    *(demo, quickstart, broker, run, top, health),
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
    try:
        app()
    except StreamlearnError as error:
        print(f"streamlearn: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output, such as head(1), has gone; what is still buffered is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        print(f"streamlearn: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CheckpointError.exit_code)
    except SystemExit as end:
        # Typer exits with 2 where sysexits.h has EX_USAGE.
        sys.exit(UsageError.exit_code if end.code == 2 else end.code)
