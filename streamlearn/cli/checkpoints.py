"""`streamlearn checkpoints`: the history of a state, and the way back."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from streamlearn.cli.options import Json

State = Annotated[
    str,
    typer.Argument(help="Directory or URL (checkpoint.directory).", metavar="STATE", show_default=False),
]

checkpoints = typer.Typer(
    name="checkpoints", help="List, verify and go back to the generations of a state.", no_args_is_help=True
)


@checkpoints.command("list")
def list_(state: State, as_json: Json = False) -> None:
    """List the generations, oldest first, one a line, by their headers alone."""
    from streamlearn.app.checkpoints import generations

    for row in generations(state):
        _print(row, as_json)


@checkpoints.command()
def verify(state: State, as_json: Json = False) -> None:
    """Read every generation whole and compare its checksum; ends with 74 if one is damaged."""
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
    seq: Annotated[int, typer.Argument(help="Number of the generation to go back to.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Go back to an older generation, weights and offsets together; what came after is learned again.

    Needs the daemon stopped. The newer generations are renamed to *.undone, or in a remote state marked so.
    Whether the topics still hold the records since then, `check --live` tells.
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
