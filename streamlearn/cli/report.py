"""`streamlearn report`: a report of a checkpoint as an HTML page or an image."""

from pathlib import Path
from typing import Annotated

import typer

from streamlearn.cli.options import Checkpoint
from streamlearn.errors import UsageError

Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="File to write: .html (self-contained) or .png.", metavar="FILE"),
]


def report(checkpoint: Checkpoint, output: Output = Path("report.html")) -> None:
    """Write a report of a checkpoint: learning curves, scores by label, largest weights, concept drift."""
    if output.suffix not in (".html", ".png"):
        raise UsageError(f"--output {output}: the name ends in {output.suffix!r}; use .html or .png")
    try:
        from streamlearn.report import figures, page
    except ModuleNotFoundError as missing:
        raise UsageError(f"report: {missing}; install it with pip install 'streamlearn[report]'") from None
    from streamlearn.app.report import collect

    facts = collect(checkpoint)
    content = page.html(facts).encode() if output.suffix == ".html" else figures.png(facts)
    output.write_bytes(content)
    print(f"{output}: {len(content):,} bytes")
