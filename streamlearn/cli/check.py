"""`streamlearn check`: whether a configuration is valid and can run here."""

from typing import Annotated

import typer

from streamlearn.cli.options import ConfigFile, Json, Set

Live = Annotated[
    bool, typer.Option("--live", help="Also check the broker, topics, permissions and the state.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds to wait for each response of the broker.")
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        help="Also check the labels of this file against the configuration; may be repeated.",
        metavar="FILE",
        show_default=False,
    ),
]


def check(
    config: ConfigFile,
    data: Data = None,
    live: Live = False,
    timeout: Timeout = 10.0,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Validate a configuration: print one line per problem and exit with the code that `run` would."""
    import json
    from dataclasses import asdict

    from streamlearn.app.check import check as findings
    from streamlearn.cli.console import console

    terminal = console()
    exit_code = 0
    for finding in findings(config, set_ or [], live, timeout, data or []):
        exit_code = exit_code or finding.exit_code
        if as_json:
            print(json.dumps(asdict(finding)))
            continue
        mark, style = ("ok", "green") if finding.ok else ("problem", "red")
        terminal.print(f"{mark:<8}", style=style, end="")
        terminal.print(f"{finding.name}: {finding.message}", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(exit_code)
