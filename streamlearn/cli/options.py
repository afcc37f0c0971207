"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from streamlearn.choices import Separator

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
# What files of text do not say about themselves.
LabelColumn = Annotated[
    str,
    typer.Option(
        "--label-column",
        help="Column of the labels: a name, last (after the named ones) or none; auto: upos of CoNLL-U, else "
        "last.",
    ),
]
FieldSeparator = Annotated[
    Separator,
    typer.Option(
        "--separator", help="What separates columns; auto: tabs where there are any, else whitespace."
    ),
]
Header = Annotated[
    bool, typer.Option("--header", help="The first row of a column file contains the names of the columns.")
]
Encoding = Annotated[
    str,
    typer.Option("--encoding", help="Text encoding of the files; auto: by the byte order mark, else UTF-8."),
]
