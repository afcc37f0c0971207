"""Environment variables as settings: ``STREAMLEARN_LEARNER__AVERAGE=none``."""

import difflib
import re
from collections.abc import Iterator, Mapping

from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError

PREFIX = "STREAMLEARN_"

_NESTED = "__"
# Others with our prefix: variables of the tests, and those that Kubernetes sets for services of our name.
_OTHERS = re.compile(
    r"STREAMLEARN_(TEST_\w+|(\w+_)?SERVICE_(HOST|PORT(_\w+)?)|(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)"
)
_SERVICE_LINK = re.compile(r"(tcp|udp|sctp)://")


def settings_in(variables: Mapping[str, str]) -> Iterator[tuple[str, list[str], str]]:
    """Yield name, path of the key, and text of every variable that sets one.

    Raises
    ------
    ConfigError : a variable has our prefix but names no section.

    Examples
    --------
    >>> list(settings_in({"STREAMLEARN_LABELS__MAX": "7", "HOME": "/"}))
    [('STREAMLEARN_LABELS__MAX', ['labels', 'max'], '7')]
    """
    for name, text in sorted(variables.items()):
        if name.startswith(PREFIX) and not _is_foreign(name, text):
            path = name.removeprefix(PREFIX).lower().split(_NESTED)
            if path[0] not in Config.model_fields:
                raise ConfigError(f"{name}: unknown section {path[0]!r}; {_hint(path)}")
            yield name, path, text


def _is_foreign(name: str, text: str) -> bool:
    is_link = name.endswith("_PORT") and _SERVICE_LINK.match(text)
    return bool(is_link or _OTHERS.fullmatch(name))


def _hint(path: list[str]) -> str:
    sections = difflib.get_close_matches(path[0], Config.model_fields, n=1)
    if path[1:] and sections:
        return f"did you mean {_variable([*sections, *path[1:]])}?"
    # Most often there is one underscore where two are wanted.
    flat = {"_".join(known): known for known in _paths()}
    near = difflib.get_close_matches("_".join(path), flat, n=1)
    return (
        f"did you mean {_variable(flat[near[0]])}?"
        if near
        else f"known sections: {', '.join(Config.model_fields)}"
    )


def _paths() -> Iterator[list[str]]:
    for name, field in Config.model_fields.items():
        yield [name]
        yield from ([name, key] for key in getattr(field.annotation, "model_fields", ()))


def _variable(path: list[str]) -> str:
    return PREFIX + _NESTED.join(path).upper()
