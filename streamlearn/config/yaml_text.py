"""Parsing YAML safely: duplicate keys are errors, aliases cannot expand without limit, errors are ours.

Error messages never quote the text around a problem, since it may be a password.
"""

import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from streamlearn.errors import ConfigError

# Far more than any model needs: templates of a thousand lines are 50 kB.
_MAX_CHARS = 1 << 20
# Counted with all aliases expanded: nine lines of ten aliases each would make a thousand million values.
_MAX_VALUES = 100_000
_MAX_DEPTH = 32
_QUOTED = re.compile(r"'([^']*)'")

_Extent = tuple[float, float]


class _Loader(yaml.SafeLoader):
    """A YAML loader to which a duplicate key is an error: one of the two would be lost silently."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        _check_depth(self.depth)
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break
            if key in seen:
                raise ConfigError(f"key {key!r} occurs twice{_place(key_node.start_mark)}")
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_text(path: Path) -> str:
    """Return the text of a configuration file.

    Raises
    ------
    ConfigError : it cannot be read, is not UTF-8, or is too long.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MAX_CHARS + 1)
    # A path from the configuration may contain NUL, which is a ValueError.
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be read: {reason}") from None
    if len(text) > _MAX_CHARS:
        raise ConfigError(f"{path}: longer than {_MAX_CHARS:,} characters")
    return text


def parse(text: str, where: str) -> Any:
    """Return the value that YAML text stands for.

    Parameters
    ----------
    where : name of the text in error messages.

    Raises
    ------
    ConfigError : the text is not valid YAML, has a duplicate key, is nested too deeply, or is too large once
        aliases are expanded.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _construct(loader, node)
    except yaml.MarkedYAMLError as error:
        problem = _QUOTED.sub(_unless_secret, error.problem or error.context or "not valid YAML")
        raise ConfigError(f"{where}: {problem}{_place(error.problem_mark)}") from None
    except (yaml.YAMLError, ConfigError) as error:
        raise ConfigError(f"{where}: {error}") from None


def _construct(loader: _Loader, node: yaml.Node) -> Any:
    values, depth = _extent(node, {})
    _check_depth(depth)
    if values > _MAX_VALUES:
        raise ConfigError(f"{values:,.0f} values with all aliases expanded, wanted at most {_MAX_VALUES:,}")
    try:
        return loader.construct_document(node)
    except (ValueError, TypeError, LookupError, AttributeError):
        # PyYAML converts whatever looks like a date, or has a tag, even if it is invalid: 2001-99-99.
        raise ConfigError("an invalid number, date or tag; put the value in quotes") from None


def _check_depth(depth: float) -> None:
    if depth > _MAX_DEPTH:
        raise ConfigError(f"nested deeper than {_MAX_DEPTH} levels")


def _extent(node: yaml.Node, known: dict[yaml.Node, _Extent]) -> _Extent:
    """Return how many values a node has with its aliases expanded, and how deeply they are nested."""
    if node not in known:
        # A node that contains itself is infinite.
        known[node] = math.inf, math.inf
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        nodes = (each for part in parts for each in (part if isinstance(part, tuple) else (part,)))
        extents = [_extent(each, known) for each in nodes]
        known[node] = (
            1 + sum(size for size, _ in extents),
            1 + max((depth for _, depth in extents), default=0),
        )
    return known[node]


def _unless_secret(quoted: re.Match[str]) -> str:
    # PyYAML quotes single characters, names of its tokens, and text that may be part of a password.
    return quoted[0] if len(quoted[1]) < 2 or quoted[1].startswith("<") else "…"


def _place(mark: yaml.Mark | None) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
