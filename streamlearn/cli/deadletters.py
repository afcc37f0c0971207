"""`streamlearn deadletters`: the records that could not be learned from, and a second chance for them."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamlearn.cli.options import ConfigFile, Json, Set

if TYPE_CHECKING:
    from streamlearn.app.deadletters import LetterFilter

Reason = Annotated[
    list[str] | None, typer.Option("--reason", help="Only of this reason; may be repeated.", metavar="REASON")
]
Topic = Annotated[str | None, typer.Option("--topic", help="Only of this source topic.")]
Partition = Annotated[int | None, typer.Option("--partition", help="Only of this partition.")]
First = Annotated[int | None, typer.Option("--from-offset", help="Only from this offset on.")]
Last = Annotated[int | None, typer.Option("--to-offset", help="Only up to this offset, included.")]
Since = Annotated[datetime | None, typer.Option("--since", help="Only records of this local time and later.")]
Until = Annotated[
    datetime | None, typer.Option("--until", help="Only records of this local time and earlier.")
]

_BATCH = 500
_SHOWN_MESSAGE = 100

deadletters = typer.Typer(
    name="deadletters",
    help="List, show and replay records that could not be learned from.",
    no_args_is_help=True,
)


@deadletters.command("list")
def list_(
    config: ConfigFile,
    reason: Reason = None,
    topic: Topic = None,
    partition: Partition = None,
    from_offset: First = None,
    to_offset: Last = None,
    since: Since = None,
    until: Until = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """List dead letters of topic and file, one a line, and count them by reason."""
    from collections import Counter

    from streamlearn.app.deadletters import read_letters
    from streamlearn.config.load import load

    wanted = _wanted(reason, topic, partition, from_offset, to_offset, since, until)
    counts: Counter[str] = Counter()
    for letter in read_letters(load(config, set_ or []), wanted):
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
    place: Annotated[str, typer.Argument(help="Where the record was, e.g. orders[3]@1841.")],
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Show one record whole: headers, key and value, and what was wrong with it."""
    from streamlearn.app.deadletters import LetterFilter, read_letters
    from streamlearn.config.load import load
    from streamlearn.errors import UsageError

    for letter in read_letters(load(config, set_ or []), LetterFilter()):
        if letter.place == place:
            _show(letter.shown(), as_json)
            return
    raise UsageError(f"{place}: no such dead letter; `streamlearn deadletters list` names them")


@deadletters.command()
def replay(
    config: ConfigFile,
    reason: Reason = None,
    topic: Topic = None,
    partition: Partition = None,
    from_offset: First = None,
    to_offset: Last = None,
    since: Since = None,
    until: Until = None,
    again: Annotated[
        bool, typer.Option("--again", help="Send also what was sent before: it is learned twice.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")] = False,
    set_: Set = None,
) -> None:
    """Send records back to the end of their partition, to be learned once what was wrong is mended.

    What was sent is noted in the state directory, so that another call sends the rest only.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from streamlearn.app.deadletters import Replayer, read_letters
    from streamlearn.config.load import load

    wanted = _wanted(reason, topic, partition, from_offset, to_offset, since, until)
    errors = Console(stderr=True)
    settings = load(config, set_ or [])
    with Replayer(settings, again=again) as replayer:
        letters = replayer.unsent(read_letters(settings, wanted))
        if dry_run:
            print(f"{len(letters):,} dead letters would be sent")
            return
        columns = (TextColumn("replaying…"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
            bar = progress.add_task("", total=len(letters))
            for start in range(0, len(letters), _BATCH):
                replayer.send(letters[start : start + _BATCH])
                progress.advance(bar, len(letters[start : start + _BATCH]))
        print(f"sent {len(letters):,} dead letters back")


def _wanted(
    reason: list[str] | None,
    topic: str | None,
    partition: int | None,
    first: int | None,
    last: int | None,
    since: datetime | None,
    until: datetime | None,
) -> "LetterFilter":
    from streamlearn.app.deadletters import LetterFilter

    return LetterFilter(reason or (), topic, partition, first, last, since, until)


def _show(shown: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(shown))
        return
    headers = shown.pop("headers")
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:<{width}}  {_plain(value)}")
    for name, value in headers:
        print(f"header {_plain(name)}: {_plain(value)}")


def _plain(value: Any) -> str:
    """Escape what could steer a terminal: records may hold anything."""
    text = str(value)
    return text if text.isprintable() else json.dumps(text)
