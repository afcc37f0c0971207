"""The generated tables of the READMEs: configuration keys, commands, metrics and exit codes.

    python -m tests.reference

writes each into its file; a test fails while a file has something else.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import typer
from pydantic import BaseModel, ByteSize
from pydantic.fields import FieldInfo

from streamlearn import errors
from streamlearn.cli.main import app
from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.config.schema import Config
from streamlearn.telemetry.catalogue import METRICS, PREFIX

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"(<!-- reference: (\w+) -->\n).*?(<!-- end -->)", re.S)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Write a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def config() -> str:
    """List every key with its default and its meaning."""
    return table(("key", "default", "meaning"), keys(Config))


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, ...]]:
    """Yield every key of a section with its default and its meaning."""
    for name, field in section.model_fields.items():
        if name == "learner":
            for member in get_args(get_args(LearnerConfig)[0]):
                kind = member.model_fields["kind"].default
                meaning = f"{member.__doc__} Its keys:"
                yield f"`learner.kind: {kind}`", "", meaning
                yield from (row for row in keys(member, "learner.") if row[0] != "`learner.kind`")
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"`{prefix}{name}`", _default(field), field.description or ""


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, ByteSize):
        return f"`{value.human_readable(separator='')}`"
    if value is None:
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def commands() -> str:
    """List every option of every command."""
    found: list[str] = []
    for name, command in _commands(typer.main.get_command(app)):
        summary = (command.help or "").split("\n\n")[0].replace("\n", " ")
        rows = [_parameter(parameter) for parameter in command.params if parameter.name != "help"]
        found.append(
            f"**`streamlearn {name}`**: {summary}\n\n" + table(("option", "default", "meaning"), rows)
        )
    return "\n".join(found)


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{name} ")
        else:
            yield prefix + name, command


def _parameter(parameter: Any) -> tuple[str, str, str]:
    is_option = parameter.param_type_name == "option"
    name = " ".join(parameter.opts) if is_option else parameter.metavar or parameter.name.upper()
    default = parameter.default
    is_none = default is None or default is False or default == "" or default == ()
    shown = "" if is_none or callable(default) else f"`{default}`"
    return f"`{name}`", shown, (getattr(parameter, "help", "") or "").replace("\n", " ")


def metrics() -> str:
    """List every metric."""
    rows = (
        (f"`{PREFIX}{spec.name}`", spec.kind, ", ".join(f"`{label}`" for label in spec.labels), spec.help)
        for spec in METRICS
    )
    return table(("metric", "type", "labels", "meaning"), rows)


def exits() -> str:
    """List every exit code."""
    kinds: dict[int, list[str]] = {0: ["Drained, stopped, or nothing to complain of."]}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.StreamlearnError):
            first = (kind.__doc__ or "").split("\n")[0]
            kinds.setdefault(kind.exit_code, []).append(first)
    kinds[1] = [
        "`health`: the daemon is not healthy or does not answer. Any other command: an error in streamlearn."
    ]
    kinds[130] = ["Ctrl-C in a command that reads or writes files."]
    kinds[143] = ["A second SIGTERM: stopped at once; 137 is the same by SIGKILL. Safe at any instant."]
    return table(("code", "meaning"), ((str(code), " ".join(kinds[code])) for code in sorted(kinds)))


HOMES = {"config": "configs/README.md", **dict.fromkeys(("metrics", "exits", "commands"), "deploy/README.md")}
PARTS = {"config": config, "commands": commands, "metrics": metrics, "exits": exits}


def updated(text: str) -> str:
    """Return a README with its generated tables brought up to date."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}", text)


if __name__ == "__main__":
    for path in sorted({ROOT / home for home in HOMES.values()}):
        path.write_text(updated(path.read_text()))
