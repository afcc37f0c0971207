"""The keys in which two configurations differ."""

from collections.abc import Mapping
from typing import Any

from streamlearn.config.schema import Config


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of nested sections by dotted key; the mapping `labels.map` is one value."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        found |= (
            flat(value, f"{name}.") if isinstance(value, dict) and name != "labels.map" else {name: value}
        )
    return found


def changed(one: Config, other: Config) -> list[str]:
    """Return the dotted keys whose values differ, in order; a key that only one has differs."""
    ours, theirs = flat(one.model_dump()), flat(other.model_dump())
    return sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
