"""Changing keys in a configuration file while keeping everything else, comments included, as it is."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from streamlearn.config.load import merged, parse_overrides, parse_sections
from streamlearn.config.yaml_text import read_text
from streamlearn.errors import ConfigError


def rewritten(path: Path, overrides: Sequence[str], target: Path) -> str:
    """Return the text of a configuration file with `--set` options written into it.

    If the kind of learner changes, the settings and comments of the old one are removed.

    Parameters
    ----------
    path : the file to start from.
    overrides : ``dotted.key=value``, the value in YAML.
    target : file that the text is meant for; the path of a template file is made relative to it.

    Raises
    ------
    ConfigError : the file is written in a way (e.g. with anchors) in which a key cannot be set by itself.
    """
    text = read_text(path)
    before = parse_sections(text, path)
    wanted = _moved(merged(before, parse_overrides(overrides)), path.parent, target.parent)
    for keys, value in _changes(before, wanted):
        text = _assigned(text, keys, value)
    if _meaning(text, path) != wanted:
        raise ConfigError(
            f"{path}: cannot be changed key by key; keep it and use --set {' --set '.join(overrides)}"
        )
    return text


def _meaning(text: str, path: Path) -> dict[str, Any] | None:
    try:
        return parse_sections(text, path)
    except ConfigError:
        return None


def _moved(values: dict[str, Any], old: Path, new: Path) -> dict[str, Any]:
    features = values.get("features")
    name = features.get("template_file") if isinstance(features, dict) else None
    if (
        not isinstance(features, dict)
        or not name
        or Path(name).is_absolute()
        or old.resolve() == new.resolve()
    ):
        return values
    return values | {"features": features | {"template_file": os.path.relpath(old / name, new)}}


def _changes(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[tuple[list[str], Any]]:
    """Yield path and new value of every difference; a mapping that lost keys is one value."""
    for key, value in wanted.items():
        old = before.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and old.keys() <= value.keys():
            yield from (([key, *path], new) for path, new in _changes(old, value))
        elif key not in before or old != value:
            yield [key], value


def _assigned(text: str, keys: list[str], value: Any) -> str:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None:
        return text + _block(_nested(keys, value), 0)
    for depth, key in enumerate(keys):
        found = _child(node, key)
        if found is None:
            return _inserted(text, node, _nested(keys[depth:], value), is_root=not depth)
        node = found
    return _replaced(text, node, value)


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _child(node: yaml.Node, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _end(node: yaml.Node) -> int:
    """Return the index after the last character of a value; PyYAML's mark comes after the comments."""
    while _is_block(node) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _inserted(text: str, node: yaml.Node, addition: dict[str, Any], is_root: bool) -> str:
    end = _end(node)
    if not _is_block(node):
        # After the last pair, since a comma may or may not follow it.
        place = _end(node.value[-1][1]) if node.value else end - 1
        return f"{text[:place]}{', ' if node.value else ''}{_flow(addition)[1:-1]}{text[place:]}"
    if text[end - 1] != "\n":
        # The rest of the line may be a comment on the last value.
        end = (text + "\n").index("\n", end) + 1
        text = text if end <= len(text) else text + "\n"
    gap = "\n" if is_root and isinstance(next(iter(addition.values())), dict) else ""
    return text[:end] + gap + _block(addition, node.start_mark.column) + text[end:]


def _replaced(text: str, node: yaml.Node, value: Any) -> str:
    start, end = int(node.start_mark.index), _end(node)
    if isinstance(value, dict) and _is_block(node):
        indent = node.start_mark.column
        return text[:start] + _block(value, indent).strip() + text[end:]
    space = " " if start == end else ""
    rest = text[end:]
    # The mark of a literal block comes after its last line break.
    line_break = "\n" if end > start and text[end - 1] == "\n" else ""
    return f"{text[:start]}{space}{_flow(value)}{line_break}{rest}"


def _block(value: Any, indent: int) -> str:
    lines = yaml.safe_dump(value, sort_keys=False, allow_unicode=True).splitlines()
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def _flow(value: Any) -> str:
    line = yaml.safe_dump(
        [value], default_flow_style=True, sort_keys=False, allow_unicode=True, width=1 << 20
    )
    return line.strip()[1:-1]
