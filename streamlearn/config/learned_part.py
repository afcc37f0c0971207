"""The part of a configuration that weights depend on: what a checkpoint stores, and which keys may change."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from streamlearn.config.changed import flat
from streamlearn.config.problems import explained
from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError

_LEARNED = {"model", "features", "labels", "learner"}

# Keys that may change without invalidating the weights: sizes of tables and caches, which labellings are
# predicted, and in which scheme they are written.
_FREE = {"model", "features.max_features", "features.max_edge_features", "features.memory",
         "features.names", "features.cache", "features.template_file", "labels.max", "labels.known",
         "labels.constrain", "labels.scheme.data"}  # fmt: skip


def digest(learned: Mapping[str, Any]) -> str:
    """Return a hash of the keys that cannot change without invalidating the weights.

    Keys with their default value are left out, so that a release with more keys computes the same digest.
    """
    config = from_learned(learned)
    given = config.model_dump(mode="json", include=_LEARNED, exclude_defaults=True)
    fixed = {key: value for key, value in flat(given).items() if key not in _FREE}
    fixed["learner.kind"] = config.learner.kind
    return hashlib.blake2b(json.dumps(fixed, sort_keys=True).encode(), digest_size=16).hexdigest()


def differences(learned: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys, among those that weights depend on, in which two configurations differ."""
    one, two = flat(learned), flat(other)
    return sorted(key for key in (one.keys() | two.keys()) - _FREE if one.get(key) != two.get(key))


def learned_part(config: Config) -> dict[str, Any]:
    """Return the part that weights depend on as plain data, without secrets."""
    # The text of a template file is stored, not its path.
    return config.model_dump(mode="json", include=_LEARNED, exclude={"features": {"template_file"}})


def from_learned(learned: Mapping[str, Any]) -> Config:
    """Return the configuration that a checkpoint stores, with defaults for the rest.

    Raises
    ------
    ConfigError : this release does not know some of its keys or values.
    """
    try:
        return Config.model_validate(learned)
    except ValidationError as error:
        # A damaged checkpoint may hold thousands of wrong values: the first one says enough.
        raise ConfigError(explained(error, "configuration in the checkpoint").problems[0]) from None


def changes(saved: Mapping[str, Any], config: Config) -> list[str]:
    """Return the dotted keys whose values differ from those that a checkpoint was learned with.

    Keys that did not exist when the checkpoint was written count with their defaults.
    """
    return differences(learned_part(from_learned(saved)), learned_part(config))
