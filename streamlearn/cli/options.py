"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path, typer.Argument(help="Configuration file (YAML).", metavar="CONFIG", show_default=False)
]
Checkpoint = Annotated[
    str,
    typer.Argument(
        help="Checkpoint file, or a state directory for the newest in it; or the URL of either.",
        metavar="CHECKPOINT",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override a key, e.g. --set learner.average=none.",
        metavar="KEY=VALUE",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for scripts.")]
Train = Annotated[
    list[str], typer.Option("--train", help="File to learn from; may be repeated.", metavar="FILE")
]
