"""The part of a configuration that weights depend on: what a checkpoint keeps, and when it may change."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError

_LEARNED = {"model", "features", "labels", "learner"}

# What may change under learned weights, because none of them depends on it: sizes of tables and caches, and
# which labellings are predicted.
_FREE = {"model", "features.max_features", "features.max_edge_features", "features.names", "features.cache",
         "features.template_file", "labels.max", "labels.known", "labels.constrain"}  # fmt: skip


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        flat |= (
            _flat(value, f"{name}.") if isinstance(value, dict) and name != "labels.map" else {name: value}
        )
    return flat


def digest(learned: Mapping[str, Any]) -> str:
    """Hash what cannot change under learned weights.

    Keys that have their default do not count, so that a release with more keys gives the same digest.
    """
    config = from_learned(learned)
    given = config.model_dump(mode="json", include=_LEARNED, exclude_defaults=True)
    fixed = {key: value for key, value in _flat(given).items() if key not in _FREE}
    fixed["learner.kind"] = config.learner.kind
    return hashlib.blake2b(json.dumps(fixed, sort_keys=True).encode(), digest_size=16).hexdigest()


def differences(learned: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Name the dotted keys on which two configurations differ in what weights depend on."""
    one, two = _flat(learned), _flat(other)
    return sorted(key for key in (one.keys() | two.keys()) - _FREE if one.get(key) != two.get(key))


def learned_part(config: Config) -> dict[str, Any]:
    """Give what weights depend on as plain data; it holds no secret."""
    # The text of a template file is kept, not where it was.
    return config.model_dump(mode="json", include=_LEARNED, exclude={"features": {"template_file"}})


def from_learned(learned: Mapping[str, Any]) -> Config:
    """Rebuild what a checkpoint keeps of a configuration.

    Raises
    ------
    ConfigError : this version does not know it.
    """
    try:
        return Config.model_validate(learned)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"configuration in the checkpoint: {where}: {first['msg']}") from None


def changes(saved: Mapping[str, Any], config: Config) -> list[str]:
    """Name the dotted keys that a checkpoint was learned with other values of.

    Keys that are younger than the checkpoint count with their defaults.
    """
    return differences(learned_part(from_learned(saved)), learned_part(config))
