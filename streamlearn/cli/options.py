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
        help="Checkpoint file, or state directory for its newest checkpoint; or a URL of either.",
        metavar="CHECKPOINT",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override a configuration key, e.g. --set learner.average=none; may be repeated.",
        metavar="KEY=VALUE",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Train = Annotated[
    list[str], typer.Option("--train", help="File to learn from; may be repeated.", metavar="FILE")
]
