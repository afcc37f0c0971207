"""Views: what templates read of one value of a column, such as its lower case or its last three letters."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import Final

from streamlearn.errors import ConfigError
from streamlearn.features.token_patterns import matcher, recognizer

_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def _unmarked(value: str) -> str:
    """Remove combining marks: é is one letter in any encoding, and a vowel sign is part of its letter."""
    if value.isascii():
        return value
    return "".join(c for c in value if not unicodedata.category(c).startswith("M"))


def _shape(value: str) -> str:
    """Map letters to X and x and digits to d, and nothing else: ``IL-2b`` → ``XX-dx``."""
    value = _unmarked(value)
    return "".join("d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in value)


def _short_shape(value: str) -> str:
    """Return the shape with runs collapsed: ``Kinase-12`` → ``Xx-d``."""
    return "".join(c for c, _ in groupby(_shape(value)))


def _digits(value: str) -> str:
    """Replace every digit by 0: ``1998`` → ``0000``."""
    return "".join("0" if c.isdigit() else c for c in value)


def _kind(value: str) -> str:
    """Return the class of characters: digit, number, punct, upper, lower, title, mixed, uncased, alnum."""
    value = _unmarked(value)
    if value.isdigit():
        return "digit"
    if value.isalpha():
        if value.isupper():
            return "upper"
        if value.islower():
            return "lower"
        if value.istitle():
            return "title"
        # Scripts without case are neither upper nor lower.
        return "mixed" if value.lower() != value.upper() else "uncased"
    if not any(c.isalnum() for c in value):
        return "punct"
    if not any(c.isalpha() for c in value):
        return "number"
    return "alnum"


def _has_digit(value: str) -> str:
    """Return whether there is a digit: 1 or 0."""
    return str(int(any(c.isdigit() for c in value)))


def _has_upper(value: str) -> str:
    """Return whether there is a capital: 1 or 0."""
    return str(int(any(c.isupper() for c in value)))


def _has_hyphen(value: str) -> str:
    """Return whether there is a hyphen-minus: 1 or 0."""
    return str(int("-" in value))


def _prefix(length: int, value: str) -> str:
    return value[:length]


def _suffix(length: int, value: str) -> str:
    return value[-length:]


DERIVATIONS: Final[dict[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "shape": _shape,
    "short_shape": _short_shape,
    "digits": _digits,
    "kind": _kind,
    "has_digit": _has_digit,
    "has_upper": _has_upper,
    "has_hyphen": _has_hyphen,
}


@cache
def derivation(name: str) -> Callable[[str], str]:
    """Return the function of a derivation: a view, or a pattern such as ``t"^A"`` (test), ``m"^A"`` (match).

    Raises
    ------
    ConfigError : no such derivation.

    Examples
    --------
    >>> derivation("suffix3")("running")
    'ing'
    >>> derivation("short_shape")("Kinase-12")
    'Xx-d'
    """
    if name in DERIVATIONS:
        return DERIVATIONS[name]
    if name.endswith('"'):
        return (recognizer if name[0] == "t" else matcher)(name[2:-1])
    affix = _AFFIX.fullmatch(name)
    if not affix:
        known = ", ".join([*DERIVATIONS, "prefixN", "suffixN (N = 1 … 99)"])
        raise ConfigError(f"no view {name!r}; there are {known}")
    return partial(_prefix if affix[1] == "prefix" else _suffix, int(affix[2]))


@dataclass(frozen=True, slots=True)
class View:
    """A column and the derivations applied to its values, left to right."""

    column: str
    derivations: tuple[str, ...] = ()

    def __call__(self, value: str) -> str:
        """Return the derivation of one value of the column."""
        for name in self.derivations:
            value = derivation(name)(value)
        return value
