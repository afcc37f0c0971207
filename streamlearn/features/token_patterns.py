r"""Wapiti's regular expressions on tokens, matched in linear time.

==============================  ============================================================
``.``                           any character
``\d \a \w \l \u \p \s``        a digit, letter, letter or digit, lower case letter, capital,
                                punctuation or symbol, space; in upper case any other character
``\x``                          the character x, where x is none of these letters
``x*`` and ``x?``               any number of x, as few as possible; x or nothing, preferably x
``^`` first, ``$`` last         the beginning and the end of the token
==============================  ============================================================

Every other character stands for itself, also those that mean something elsewhere: ``+ | ( ) [ ] { }``. That
``*`` takes as few characters as possible is Wapiti's way (Lavergne, Cappé & Yvon 2010, ``src/pattern.c``);
its classes are those of ASCII, here they are Unicode's.
"""

import re
from collections.abc import Callable

import re2

from streamlearn.errors import ConfigError

# A vowel sign or an accent that is a character of its own is part of its letter.
_CLASSES = {
    "a": r"\p{L}\p{M}",
    "d": r"\p{Nd}",
    "l": r"\p{Ll}",
    "p": r"\p{P}\p{S}",
    "s": r"\s\p{Z}",
    "u": r"\p{Lu}\p{Lt}",
    "w": r"\p{L}\p{M}\p{Nd}",
}
_ITEM = re.compile(r"(\\.|[^\\])([*?]?)", re.DOTALL)


def _atom(text: str) -> str:
    """Return one item of Wapiti's syntax in that of RE2."""
    if text == ".":
        return "."
    if text[0] == "\\":
        letter = text[1]
        if letter.lower() in _CLASSES:
            return f"[{'' if letter.islower() else '^'}{_CLASSES[letter.lower()]}]"
        text = letter
    return f"\\x{{{ord(text):x}}}"


def _translated(pattern: str) -> str:
    """Return a pattern in the syntax of RE2.

    Raises
    ------
    ConfigError : a ``*`` or ``?`` has nothing to repeat.
    """
    begin, rest = ("\\A", pattern[1:]) if pattern.startswith("^") else ("", pattern)
    items, end = [], ""
    for item in _ITEM.finditer(rest):
        text, repeat = item.groups()
        if text in ("*", "?"):
            raise ConfigError(
                f'"{pattern}": nothing to repeat before {text}; write \\{text} for the character'
            )
        if item[0] == "$" and item.end() == len(rest):
            end = "\\z"
        else:
            items.append(_atom(text) + {"*": "*?", "?": "?", "": ""}[repeat])
    return f"(?s){begin}{''.join(items)}{end}"


def _search(pattern: str) -> Callable[[str], "re2._Match | None"]:
    options = re2.Options()
    options.log_errors = False
    try:
        search: Callable[[str], re2._Match | None] = re2.compile(_translated(pattern), options).search
    except re2.error as error:
        raise ConfigError(f'"{pattern}": not a valid pattern: {error}') from None
    return search


def matcher(pattern: str) -> Callable[[str], str]:
    r"""Return a function from a token to the first part that matches, "" if there is none.

    Raises
    ------
    ConfigError : the pattern is invalid.

    Examples
    --------
    >>> matcher(".?.?.?$")("running"), matcher(r"^\u")("running")
    ('ing', '')
    """
    search = _search(pattern)

    def match(value: str) -> str:
        found = search(value)
        return found[0] if found else ""

    return match


def recognizer(pattern: str) -> Callable[[str], str]:
    r"""Return a function from a token to "true" or "false": whether any part of it matches.

    Raises
    ------
    ConfigError : the pattern is invalid.

    Examples
    --------
    >>> recognizer(r"\d")("B2B"), recognizer(r"^\u\u*$")("IBm")
    ('true', 'false')
    """
    search = _search(pattern)
    return lambda value: "true" if search(value) else "false"
