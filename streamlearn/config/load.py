"""Where the values of a configuration come from.

Later wins: the YAML file, environment variables (``STREAMLEARN_LEARNER__AVERAGE=none``), ``--set`` options.
All values are YAML; only passwords and user names in the environment are taken as they are.
"""

import difflib
import os
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from streamlearn.config.environment import settings_in
from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.config.schema import Config
from streamlearn.config.secrets import from_files, is_secret
from streamlearn.config.yaml_text import parse, read_text
from streamlearn.errors import ConfigError

_KINDS: dict[str, type[BaseModel]] = {
    member.model_fields["kind"].default: member for member in get_args(get_args(LearnerConfig)[0])
}


def parse_sections(text: str, path: Path) -> dict[str, Any]:
    """Read the text of a configuration file as a mapping of sections, not yet checked."""
    values = parse(text, str(path))
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: a mapping of sections is wanted, got {type(values).__name__}")
    return values


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Lay `high` over `low`, key by key."""
    if "kind" in high and high["kind"] != low.get("kind"):
        # Settings of one kind mean nothing to another, which begins with its defaults.
        return dict(high)
    both = {key: merged(low[key], high[key]) for key in low.keys() & high.keys()
            if isinstance(low[key], dict) and isinstance(high[key], dict)}  # fmt: skip
    return {**low, **high, **both}


def parse_overrides(assignments: Sequence[str]) -> dict[str, Any]:
    """Read `--set` options as a tree of sections."""
    tree: dict[str, Any] = {}
    for assignment in assignments:
        dotted, equals, text = assignment.partition("=")
        if not equals or not dotted:
            raise ConfigError(f"--set {assignment}: dotted.key=value is wanted, e.g. learner.average=none")
        _plant(tree, dotted.split("."), parse(text, f"--set {dotted}"))
    return tree


def environment() -> dict[str, Any]:
    """Give what variables set, as a tree of sections."""
    tree: dict[str, Any] = {}
    for name, path, text in settings_in(os.environ):
        # Read as YAML, the password 0123 would be another number, and #1 nothing at all.
        is_plain = is_secret(path[-1]) or path[-1].endswith("username")
        _plant(tree, path, text if is_plain else parse(text, name))
    return tree


def _plant(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *parents, last = path
    for parent in parents:
        if not isinstance(tree.get(parent), dict):
            tree[parent] = {}
        tree = tree[parent]
    tree[last] = value


def _explained(error: ValidationError, where: str) -> ConfigError:
    return ConfigError(*(_problem(dict(problem), where) for problem in error.errors()))


def _problem(problem: Mapping[str, Any], where: str) -> str:
    path, section = _locate([str(part) for part in problem["loc"]])
    dotted = ".".join(path)
    if problem["type"] != "extra_forbidden":
        # A secret is not shown, and what aliases unfold may have no end.
        is_shown = not isinstance(problem["input"], dict) and path[0] != "kafka" and not is_secret(path[-1])
        given = f" (got {reprlib.repr(problem['input'])})" if is_shown else ""
        return f"{where}: {dotted}: {problem['msg']}{given}"
    known = list(section.model_fields)
    near = difflib.get_close_matches(path[-1], known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"{where}: unknown key {dotted!r}; {hint}"


def _locate(path: Sequence[str]) -> tuple[list[str], type[BaseModel]]:
    """Give the path without the tags of unions, and the section that its last key stands in."""
    section: type[BaseModel] = Config
    kept: list[str] = []
    for name in path:
        field = section.model_fields.get(name)
        if field is None:
            if name in _KINDS and kept == ["learner"]:
                section = _KINDS[name]
                continue
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            section = field.annotation
        kept.append(name)
    return kept, section


def _resolve_templates(values: dict[str, Any], base: Path) -> dict[str, Any]:
    features = values.get("features")
    if not isinstance(features, dict) or not features.get("template_file"):
        return values
    if features.get("templates"):
        raise ConfigError("features: give templates or template_file, not both")
    path = base / str(features["template_file"])
    try:
        text = read_text(path)
    except ConfigError as error:
        raise ConfigError(f"features.template_file: {error}") from None
    return values | {"features": features | {"templates": text, "template_file": path.resolve()}}


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration file, then the environment, then `--set` options.

    Parameters
    ----------
    overrides : ``dotted.key=value``, the value in YAML.

    Raises
    ------
    ConfigError : every problem, with the key and what was wanted.
    """
    layers = (
        parse_sections(read_text(path), path),
        environment(),
        parse_overrides(overrides),
    )
    values: dict[str, Any] = {}
    for layer in layers:
        values = merged(values, layer)
    values |= {
        name: from_files(values[name], name, path.parent)
        for name in ("kafka", "metrics")
        if isinstance(values.get(name), dict)
    }
    try:
        return Config.model_validate(_resolve_templates(values, path.parent))
    except ValidationError as error:
        raise _explained(error, str(path)) from None
