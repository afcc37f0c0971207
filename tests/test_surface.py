"""What users, dashboards and scripts depend on: it changes only by intent, never by the way.

    python -m tests.test_surface

writes tests/data/surface.json, in which a review then sees what changed: metrics with type and labels,
configuration keys with defaults, exit codes, and options of the commands with defaults.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import typer
from pydantic import BaseModel

from streamlearn import errors
from streamlearn.cli.main import app
from streamlearn.config.schema import Config
from streamlearn.telemetry.catalogue import METRICS, PREFIX

FILE = Path(__file__).parent / "data" / "surface.json"


def surface() -> dict[str, Any]:
    """Return the surface as plain data."""
    codes = {name: getattr(kind, "exit_code", None) for name, kind in vars(errors).items()}
    return {
        "metrics": {f"{PREFIX}{spec.name}": " ".join([spec.kind, *spec.labels]) for spec in METRICS},
        "config": dict(keys(Config, "")),
        "exit_codes": {name: code for name, code in codes.items() if code is not None},
        "commands": dict(commands(typer.main.get_command(app), "streamlearn")),
    }


def keys(section: type[BaseModel], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield every key with its default; those of a learner begin with its kind."""
    for name, field in section.model_fields.items():
        kinds = get_args(field.annotation) if name == "learner" else ()
        if kinds:
            for kind in kinds:
                yield from keys(kind, f"{name}({kind.model_fields['kind'].default}).")
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", plain(field.get_default(call_default_factory=True))


def commands(command: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every command with its arguments in order, and its options with their defaults."""
    arguments = [each.name for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    yield name, {"": " ".join(arguments)} | {" ".join(each.opts): plain(each.default) for each in options}
    for part, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {part}")


def plain(value: Any) -> Any:
    """Return what JSON gives back of a default."""
    return json.loads(json.dumps(value, default=str))


def test_metrics_keys_exit_codes_and_options_are_those_that_were_agreed() -> None:
    agreed, found = json.loads(FILE.read_text()), surface()
    for part in agreed:
        assert found[part] == agreed[part], part


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=1, sort_keys=True) + "\n")
