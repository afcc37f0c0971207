"""`streamlearn deadletters`: list, show and replay the records that could not be learned from."""

import functools
import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import ConfigFile, Json, Set

if TYPE_CHECKING:
    from streamlearn.app.deadletters import DeadLetterFilter

_BATCH = 500
_SHOWN_MESSAGE = 100
# As a broker says it of a record.
_NO_TIMESTAMP = -1
# The last is how `show` prints one.
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f%z"]

deadletters = typer.Typer(
    name="deadletters",
    help="List, show and replay records that could not be learned from.",
    no_args_is_help=True,
)


def _chosen(
    reason: Annotated[
        list[str] | None,
        typer.Option("--reason", help="Only with this reason; may be repeated.", metavar="REASON"),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Only from this source topic.")] = None,
    partition: Annotated[int | None, typer.Option(help="Only from this partition.")] = None,
    from_offset: Annotated[int | None, typer.Option(help="Only from this offset on.")] = None,
    to_offset: Annotated[int | None, typer.Option(help="Only up to this offset, inclusive.")] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Only records of this local time or later.", formats=_TIMES)
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(help="Only records of this local time or earlier.", formats=_TIMES)
    ] = None,
) -> "DeadLetterFilter":
    """Return the filter that these options describe."""
    from streamlearn.app.deadletters import DeadLetterFilter

    return DeadLetterFilter(reason or (), topic, partition, from_offset, to_offset, since, until)


def _with_filter(command: Callable[..., None]) -> Callable[..., None]:
    """Put the options of `_chosen` in place of the parameter `wanted` of a command, which gets the filter."""
    options = inspect.signature(_chosen).parameters
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        parameters += options.values() if parameter.name == "wanted" else [parameter]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(wanted=_chosen(**{name: given.pop(name) for name in options}), **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@deadletters.command("list")
@_with_filter
def list_(config: ConfigFile, wanted: "DeadLetterFilter", set_: Set = None, as_json: Json = False) -> None:
    """List the dead letters of topic and file, one per line, and count them by reason."""
    from collections import Counter

    from streamlearn.app.deadletters import read_dead_letters
    from streamlearn.config.load import load

    counts: Counter[str] = Counter()
    for letter in read_dead_letters(load(config, set_ or []), wanted):
        counts[letter.reason] += 1
        if as_json:
            print(json.dumps(letter.shown()))
        else:
            print(f"{letter.place}  {letter.reason}  {_plain(letter.message[:_SHOWN_MESSAGE])}")
    if not as_json:
        by_reason = ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common())
        print(f"{counts.total():,} dead letters" + (f": {by_reason}" if by_reason else ""))


@deadletters.command()
def show(
    config: ConfigFile,
    place: Annotated[str, typer.Argument(help="Place of the record, e.g. orders[3]@1841.")],
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Show one record in full: headers, key and value, and why it was rejected."""
    from streamlearn.app.deadletters import find_dead_letter
    from streamlearn.config.load import load

    _show(find_dead_letter(load(config, set_ or []), place).shown(), as_json)


@deadletters.command()
@_with_filter
def replay(
    config: ConfigFile,
    wanted: "DeadLetterFilter",
    again: Annotated[
        bool,
        typer.Option("--again", help="Also send those that were sent before, which are then learned twice."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print how many would be sent.")] = False,
    set_: Set = None,
) -> None:
    """Send records back to the end of their partition, to be learned once the cause is fixed.

    What was sent is noted in the state directory, so that another call sends only the rest.
    """
    from streamlearn.app.deadletters import Replayer, read_dead_letters
    from streamlearn.cli.console import console
    from streamlearn.cli.progress import progress_bar
    from streamlearn.config.load import load

    settings = load(config, set_ or [])
    with Replayer(settings, again=again) as replayer:
        letters = replayer.unsent(read_dead_letters(settings, wanted))
        if dry_run:
            print(f"{len(letters):,} dead letters would be sent")
            return
        with progress_bar("replaying…", len(letters), console(stderr=True)) as advance:
            for start in range(0, len(letters), _BATCH):
                batch = letters[start : start + _BATCH]
                replayer.send(batch)
                advance(len(batch))
        print(f"sent {len(letters):,} dead letters back")


def _show(shown: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(shown))
        return
    headers = shown.pop("headers")
    shown["timestamp"] = _moment(shown["timestamp"])
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:<{width}}  {_plain(value)}")
    for name, value in headers:
        print(f"header {_plain(name)}: {_plain(value)}")


def _moment(milliseconds: int) -> str:
    """Return a record's timestamp as a time (ISO 8601); producers may write any number."""
    if milliseconds == _NO_TIMESTAMP:
        return "none"
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"


def _plain(value: Any) -> str:
    """Escape what could control a terminal: records may hold anything."""
    text = str(value)
    return text if text.isprintable() else json.dumps(text)
