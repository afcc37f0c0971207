"""`streamlearn produce`: send labelled sequences from files to a topic."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from streamlearn.choices import ContentType
from streamlearn.cli.options import Encoding, FieldSeparator, Header, LabelColumn

if TYPE_CHECKING:
    from streamlearn.app.produce import ProduceRun

_REFRESH_SECONDS = 0.1

Files = Annotated[
    list[str],
    typer.Argument(help="JSON Lines or column files, compressed or not; - for standard input."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Configuration file: its names of the columns, its first topic and its Kafka settings are used "
        "where no other option is given.",
        metavar="CONFIG",
        show_default=False,
    ),
]
Topic = Annotated[
    str | None, typer.Option(help="Topic to write to. [default: that of --config]", show_default=False)
]
Servers = Annotated[
    str | None,
    typer.Option(
        help="Kafka brokers: host:port, separated by commas. [default: those of --config, else "
        "localhost:9092]",
        envvar="STREAMLEARN_KAFKA__BOOTSTRAP_SERVERS",
        show_default=False,
    ),
]
ValueFormat = Annotated[ContentType, typer.Option(help="Format of the record values.")]
FileFormat = Annotated[
    Literal["auto", "json", "columns"], typer.Option(help="Format of the files; auto: by name, then content.")
]
Columns = Annotated[
    str,
    typer.Option(
        help="Column names, separated by commas; _ skips one. [default: those of --config, else 0,1,…]"
    ),
]
Key = Annotated[
    str,
    typer.Option(
        help="Record key: id (a running number if there is none), none, or a column, of its first value."
    ),
]
Repeat = Annotated[int, typer.Option(min=1, help="Send everything this many times.")]
Rate = Annotated[float | None, typer.Option(min=0.001, help="Maximum sequences per second.")]
Limit = Annotated[int | None, typer.Option(min=0, help="Stop after this many sequences.")]
CreateTopic = Annotated[
    int | None,
    typer.Option(min=1, help="Create the topic with this many partitions if it does not exist."),
]
Kafka = Annotated[
    list[str] | None,
    typer.Option(
        help="Setting of the Kafka client, name=value in YAML; may be repeated. The environment variables "
        "STREAMLEARN_KAFKA__NAME work, too."
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        min=0.1, help="Give up (69) when no broker answers or acknowledges records for this many seconds."
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 65 if any sequence was rejected, not only if all were.")
]


def produce(
    files: Files,
    config: Config = None,
    topic: Topic = None,
    bootstrap_servers: Servers = None,
    format: ValueFormat = "json",  # noqa: A002 - the option is called so
    input: FileFormat = "auto",  # noqa: A002 - the option is called so
    columns: Columns = "",
    label_column: LabelColumn = "auto",
    separator: FieldSeparator = "auto",
    header: Header = False,
    encoding: Encoding = "auto",
    key: Key = "id",
    repeat: Repeat = 1,
    rate: Rate = None,
    limit: Limit = None,
    create_topic: CreateTopic = None,
    kafka: Kafka = None,
    timeout: Timeout = 30.0,
    strict: Strict = False,
) -> None:
    """Send sequences from files to a topic.

    A sequence that cannot be read is reported with file, line and reason, and the others are sent. Ctrl-C
    stops after the current sequence and prints the summary.
    """
    from streamlearn.app.open_examples import TextFormat
    from streamlearn.app.produce import Destination, ProduceOptions, ProduceRun
    from streamlearn.corpus.example_reader import ExampleReader
    from streamlearn.stream.record_codec import RecordCodec

    destination = Destination.of(config, topic, bootstrap_servers, kafka or [])
    names = columns.split(",") if columns else destination.columns
    reader = ExampleReader(
        files,
        form=input,
        layout=TextFormat(label_column, separator, header).layout(names),
        codec=RecordCodec("json", require_labels=False),
        encoding=encoding,
    )
    options = ProduceOptions(destination.topic, format, key, repeat, rate, limit, create_topic, timeout)
    run = ProduceRun(reader, destination.client, options)
    try:
        with _progress(run) as on_sent:
            run.send(on_sent)
    finally:
        if summary := run.summary():
            typer.echo(summary)
        for message in reader.messages:
            typer.echo(f"rejected: {message}", err=True)
    if exit_code := run.exit_code(strict):
        raise typer.Exit(exit_code)


@contextmanager
def _progress(run: "ProduceRun") -> Iterator[Callable[[], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from streamlearn.cli.console import console

    terminal = console(stderr=True)
    if not terminal.is_terminal:
        yield lambda: None
        return
    shown = TextColumn("{task.fields[sequences]:,} sequences")
    parts = (BarColumn(), shown, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*parts, console=terminal, transient=True) as progress:
        task = progress.add_task("", total=run.total, sequences=0)
        due = 0.0

        def on_sent() -> None:
            nonlocal due
            now = time.monotonic()
            if now >= due:
                due = now + _REFRESH_SECONDS
                progress.update(task, completed=run.done, sequences=run.sequences)

        yield on_sent
