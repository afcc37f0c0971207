"""What is wrong with a configuration, one line per problem: the key, what was found and what is wanted."""

import difflib
import reprlib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from streamlearn.config.learner_sections import LearnerConfig
from streamlearn.config.schema import Config
from streamlearn.config.secrets import is_secret
from streamlearn.errors import ConfigError

_KINDS: dict[str, type[BaseModel]] = {
    member.model_fields["kind"].default: member for member in get_args(get_args(LearnerConfig)[0])
}
_NUMBERS = " (numbers need quotes)"
_MAPPING = "a mapping of keys to values"
_WHOLE, _NUMBER, _TEXT, _TIME = "a whole number", "a number", "text", "a time in ISO 8601"
_SIZE = "a size such as 512MiB"
# What is wanted instead, by pydantic's type of error, with the limits that it names.
_WANTED = {
    "literal_error": "{expected}",
    "union_tag_invalid": "one of {expected_tags}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "finite_number": "a finite number",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text" + _NUMBERS,
    "string_too_short": "at least {min_length} character",
    "string_pattern_mismatch": "text that matches {pattern}",
    "path_type": "the path of a file",
    "list_type": "a list",
    "too_short": "a list of at least {min_length}",
    "byte_size": _SIZE,
    "byte_size_unit": _SIZE,
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
}


def explained(error: ValidationError, where: str) -> ConfigError:
    """Return every problem that pydantic found; `where` begins each line."""
    lines: dict[str, list[str]] = {}
    hints: dict[str, str] = {}
    # A key that may have values of several types is reported once for each of them.
    for problem in error.errors():
        begin, wanted = _problem(problem, where)
        hints[begin] = _hint(problem)
        lines.setdefault(begin, []).append(wanted.removesuffix(_NUMBERS) if hints[begin] else wanted)
    return ConfigError(
        *(begin + ", or ".join(dict.fromkeys(wanted)) + hints[begin] for begin, wanted in lines.items())
    )


def _hint(problem: Mapping[str, Any]) -> str:
    """Return why a value may be another one than a user wrote: YAML reads some words without quotes."""
    given, kind = problem["input"], problem["type"]
    if kind == "union_tag_invalid" and isinstance(given, dict):
        given = given.get("kind")
    if isinstance(given, bool) and not kind.startswith(("bool", "value_error", "extra")):
        return "; YAML reads NO, off, yes and on as false and true: put the word in quotes"
    if isinstance(given, date) and not kind.startswith(("date", "value_error", "extra")):
        return "; put the date in quotes"
    return ""


def _problem(problem: Mapping[str, Any], where: str) -> tuple[str, str]:
    path, section = _locate(problem["loc"])
    kind, limits, given = problem["type"], problem.get("ctx", {}), problem["input"]
    if kind == "union_tag_invalid":
        path, given = [*path, limits["discriminator"].strip("'")], limits["tag"]
    is_key = path[-1:] == ["[key]"] or kind == "invalid_key"
    if is_key:
        # pydantic adds the key, but not as it was written.
        path = path[: -2 if path[-1] == "[key]" else -1]
    dotted = ".".join(path)
    key = f"{where}: {dotted}: " if dotted else f"{where}: "
    if kind == "extra_forbidden":
        known = list(section.model_fields)
        near = difflib.get_close_matches(path[-1], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return f"{where}: unknown key {dotted!r}; {hint}", ""
    if is_key:
        return f"{key}got the key {given!r}, wanted ", f"text{_NUMBERS}"
    if kind == "value_error":
        return key, str(limits["error"])
    # A secret is not shown, and the aliases of a large value may expand without end.
    is_shown = not isinstance(given, dict) and path[:1] != ["kafka"] and not is_secret(dotted)
    got = f"got {reprlib.repr(given)}, " if is_shown else ""
    wanted = _WANTED.get(kind, "a valid value").format_map(
        {name: _plain(limit) for name, limit in limits.items()}
    )
    return f"{key}{got}wanted ", wanted


def _plain(limit: object) -> object:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _locate(location: Sequence[int | str]) -> tuple[list[str], type[BaseModel]]:
    """Return the path as a user writes it, and the section that its last key belongs to."""
    section: type[BaseModel] = Config
    kept: list[str] = []
    annotation: Any = Config
    for name in location:
        if name in _KINDS and kept == ["learner"]:
            section = annotation = _KINDS[str(name)]
            continue
        if annotation is section:
            field = section.model_fields.get(str(name))
            annotation = field.annotation if field else None
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                section = annotation
        elif isinstance(name, str) and get_origin(annotation) is not dict:
            # pydantic's name of one of the types that the value may have.
            continue
        kept.append(str(name))
    return kept, section
