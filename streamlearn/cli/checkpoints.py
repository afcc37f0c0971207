"""`streamlearn checkpoints`: the checkpoints of a state, and going back to an older one."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from streamlearn.cli.options import Json

State = Annotated[
    str,
    typer.Argument(
        help="State directory or URL (checkpoint.directory).", metavar="STATE", show_default=False
    ),
]

checkpoints = typer.Typer(
    name="checkpoints",
    help="List and verify the checkpoints of a state, or roll back to one.",
    no_args_is_help=True,
)


@checkpoints.command("list")
def list_(state: State, as_json: Json = False) -> None:
    """List the checkpoints, oldest first, one per line; reads only their headers."""
    from streamlearn.app.checkpoints import listed

    for row in listed(state):
        _print(row, as_json)


@checkpoints.command()
def verify(state: State, as_json: Json = False) -> None:
    """Read every checkpoint in full and verify its checksum; exits with 74 if one is damaged."""
    from streamlearn.app.checkpoints import verified
    from streamlearn.errors import CheckpointError

    is_fine = True
    for row in verified(state):
        _print(row, as_json)
        is_fine = is_fine and row["ok"]
    if not is_fine:
        raise typer.Exit(CheckpointError.exit_code)


@checkpoints.command()
def rollback(
    state: State,
    seq: Annotated[int, typer.Argument(help="Number of the checkpoint to go back to.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Go back to an older checkpoint, weights and offsets together; the records since then are learned again.

    The daemon must be stopped. Newer checkpoints are renamed to `*.undone`, or marked so in a remote state.
    Run `check --live` to see whether the topics still hold the records since then.
    """
    from streamlearn.app.checkpoints import roll_back

    _print(roll_back(state, seq), as_json)


def _print(row: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(row))
    elif not row["ok"]:
        print(f"{row['seq']:>8}  damaged: {row['error']}")
    else:
        created = datetime.fromtimestamp(row["created_unix"], UTC).isoformat(sep=" ", timespec="seconds")
        sizes = f"{row['size_bytes']:>14,} bytes  {row['sequences_seen']:>14,} sequences"
        print(f"{row['seq']:>8}  {created}  {sizes}  {row['positions']}")
