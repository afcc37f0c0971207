"""Loading a configuration from a file, the environment and ``--set`` options.

Later ones override earlier ones: the YAML file, environment variables
(``STREAMLEARN_LEARNER__AVERAGE=none``), ``--set`` options. All values are YAML; only passwords and user names
in the environment are used as they are.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamlearn.config.environment import settings_in
from streamlearn.config.problems import explained
from streamlearn.config.schema import Config
from streamlearn.config.secrets import from_files, is_secret
from streamlearn.config.yaml_text import parse, read_text
from streamlearn.errors import ConfigError


def parse_sections(text: str, path: Path) -> dict[str, Any]:
    """Read the text of a configuration file as a mapping of sections, not yet checked."""
    values = parse(text, str(path))
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: got {type(values).__name__}, wanted a mapping of sections")
    return values


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Return `low` with the keys of `high` on top, section by section."""
    if "kind" in high and high["kind"] != low.get("kind"):
        # Settings of one kind do not apply to another, which starts from its defaults.
        return dict(high)
    both = {key: merged(low[key], high[key]) for key in low.keys() & high.keys()
            if isinstance(low[key], dict) and isinstance(high[key], dict)}  # fmt: skip
    return {**low, **high, **both}


def parse_overrides(assignments: Sequence[str]) -> dict[str, Any]:
    """Return `--set` options as a tree of sections."""
    tree: dict[str, Any] = {}
    for assignment in assignments:
        dotted, equals, text = assignment.partition("=")
        if not equals or not dotted:
            raise ConfigError(f"--set {assignment}: wanted dotted.key=value, e.g. learner.average=none")
        _plant(tree, dotted.split("."), parse(text, f"--set {dotted}"))
    return tree


def environment() -> dict[str, Any]:
    """Return the settings in environment variables as a tree of sections."""
    tree: dict[str, Any] = {}
    for name, path, text in settings_in(os.environ):
        # As YAML, the password 0123 would become the number 83, and #1 a comment.
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


def _resolve_templates(values: dict[str, Any], base: Path) -> dict[str, Any]:
    features = values.get("features")
    if not isinstance(features, dict) or not features.get("template_file"):
        return values
    if features.get("templates"):
        raise ConfigError("features: set templates or template_file, not both")
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
    ConfigError : every problem, each with its key, what was found and what is wanted.
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
        raise explained(error, str(path)) from None
