"""`streamlearn produce`: feed labelled sequences from files into a topic."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from streamlearn.corpus.example_reader import ExampleReader
    from streamlearn.data import Example
    from streamlearn.stream.feeder import Feeder

_REFRESH_SECONDS = 0.1
_EXIT_REFUSED = 65


def produce(
    files: Annotated[
        list[str], typer.Argument(help="JSON Lines or column files, plain or .gz; - is standard input.")
    ],
    topic: Annotated[str, typer.Option(help="Topic to write to.")],
    bootstrap_servers: Annotated[
        str,
        typer.Option(
            help="Brokers, host:port with commas between.", envvar="STREAMLEARN_KAFKA__BOOTSTRAP_SERVERS"
        ),
    ] = "localhost:9092",
    format: Annotated[  # noqa: A002 - the option is called so
        Literal["json", "msgpack"], typer.Option(help="How records are encoded.")
    ] = "json",
    input: Annotated[  # noqa: A002 - the option is called so
        Literal["auto", "json", "columns"], typer.Option(help="What the files are; auto: name, then content.")
    ] = "auto",
    columns: Annotated[
        str, typer.Option(help="Names of the columns with commas between, _ leaves one out. [default: 0,1,…]")
    ] = "",
    label_column: Annotated[
        str,
        typer.Option(help="Column of the labels: a name, last (after the named), none; auto: last or upos."),
    ] = "auto",
    separator: Annotated[
        Literal["auto", "tab", "whitespace"],
        typer.Option(help="What separates columns; auto: tabs where there are any, else whitespace."),
    ] = "auto",
    header: Annotated[
        bool, typer.Option("--header", help="The first row of a column file holds names.")
    ] = False,
    encoding: Annotated[str, typer.Option(help="Text encoding; auto: byte order mark, else UTF-8.")] = "auto",
    key: Annotated[
        str,
        typer.Option(help="Record key: id (else a running number), none, or a column: its first value."),
    ] = "id",
    repeat: Annotated[int, typer.Option(min=1, help="Send everything so many times.")] = 1,
    rate: Annotated[float | None, typer.Option(min=0.001, help="Sequences a second at most.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Stop after so many sequences.")] = None,
    create_topic: Annotated[
        int | None, typer.Option(min=1, help="Create the topic with so many partitions if it is missing.")
    ] = None,
    kafka: Annotated[
        list[str] | None,
        typer.Option(
            help="Setting of the Kafka client, key=value in YAML; may be repeated. Variables set them, too."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 65 if anything was refused, not only if all was.")
    ] = False,
) -> None:
    """Feed sequences from files into a topic.

    What cannot be read is refused with file, line and reason, and the rest goes on. Ctrl-C ends between two
    sequences, with the summary.
    """
    from streamlearn.app.stop import Interrupt
    from streamlearn.corpus.column_layout import ColumnLayout
    from streamlearn.corpus.example_reader import ExampleReader
    from streamlearn.errors import UsageError
    from streamlearn.stream.feeder import Feeder, RateLimit
    from streamlearn.stream.kafka.producer import KafkaSink
    from streamlearn.stream.kafka.producer import create_topic as create
    from streamlearn.stream.record_codec import RecordCodec

    names = tuple(columns.split(",")) if columns else None
    reader = ExampleReader(
        files,
        form=input,
        layout=ColumnLayout(names, label_column, separator, header),
        codec=RecordCodec("json", require_labels=False),
        encoding=encoding,
    )
    if repeat > 1 and reader.has_stdin:
        raise UsageError("--repeat needs files: standard input can be read only once")
    client = _client_settings(bootstrap_servers, kafka or [])
    start = time.monotonic()
    with Interrupt() as interrupt:
        if create_topic is not None:
            create(client, topic, create_topic, stopping=lambda: interrupt.stopped)
        sink = KafkaSink(client, topic, stopping=lambda: interrupt.stopped)
        feeder = Feeder(sink, format, key)
        examples = interrupt.until(_examples(reader, repeat, limit))
        try:
            with _progress(reader, feeder, repeat, limit) as on_sent:
                feeder.feed(examples, RateLimit(rate, sleep=interrupt.sleep), on_sent)
        finally:
            sink.flush()
            sink.close()
            typer.echo(_summary(feeder, reader, topic, sink.failed, time.monotonic() - start))
            for message in reader.messages:
                typer.echo(f"refused: {message}", err=True)
    if sink.first_error is not None:
        raise sink.first_error
    if interrupt.stopped:
        raise typer.Exit(interrupt.exit_code)
    if reader.refused and (strict or not feeder.sequences):
        raise typer.Exit(_EXIT_REFUSED)


def _client_settings(bootstrap_servers: str, pairs: list[str]) -> dict[str, Any]:
    from streamlearn.config.load import environment
    from streamlearn.config.secrets import from_files
    from streamlearn.config.yaml_text import parse
    from streamlearn.errors import ConfigError, UsageError

    settings = environment().get("kafka", {}) | {"bootstrap_servers": bootstrap_servers}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--kafka {pair!r}: wanted key=value")
        try:
            settings[name.strip()] = parse(value, f"--kafka {name}")
        except ConfigError as error:
            raise UsageError(str(error)) from None
    return from_files(settings, "--kafka", Path())


def _examples(reader: "ExampleReader", repeat: int, limit: int | None) -> "Iterator[Example]":
    passes = (located.example for _ in range(repeat) for located in reader)
    return islice(passes, limit)


@contextmanager
def _progress(
    reader: "ExampleReader", feeder: "Feeder", repeat: int, limit: int | None
) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
        return
    # Bytes tell how far a file is; with a limit the sequences do.
    total = limit if limit is not None else reader.total_bytes and repeat * reader.total_bytes
    shown = TextColumn("{task.fields[sequences]:,} sequences")
    parts = (BarColumn(), shown, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, sequences=0)
        due = 0.0

        def on_sent() -> None:
            nonlocal due
            now = time.monotonic()
            if now >= due:
                due = now + _REFRESH_SECONDS
                done = feeder.sequences if limit is not None else reader.bytes_read
                progress.update(task, completed=done, sequences=feeder.sequences)

        yield on_sent


def _summary(feeder: "Feeder", reader: "ExampleReader", topic: str, failed: int, seconds: float) -> str:
    rate = feeder.sequences / max(seconds, 1e-9)
    parts = [
        f"sent {feeder.sequences:,} sequences, {feeder.tokens:,} tokens, {feeder.value_bytes:,} bytes"
        f" to {topic} in {seconds:.1f} s ({rate:,.0f} sequences/s)"
    ]
    if failed:
        parts.append(f"not delivered: {failed:,}")
    if reader.repaired:
        parts.append(f"repaired: {_counts(reader.repaired)}")
    if reader.refused:
        parts.append(f"refused: {reader.refused.total():,} sequences ({_counts(reader.refused)})")
    return "; ".join(parts)


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
