r"""CRF++'s template language and Wapiti's, with columns by name, views, and one more kind of line.

===========================  ==============================================================
``U00:%x[-1,0]/%x[0,1]``     fires with the label; row and column of a value, as in CRF++
``B01:%x[0,0]``              fires with the pair of the previous label and the label
``*02:%x[0,0]``              both (Wapiti's ``*``), in one row of the weights
``B``                        the plain transitions
``T``                        plain triples: the two labels before, and the label
``%x[0,pos]``                a column by name
``%x[0,w.lower.suffix3]``    derivations of its value (`streamlearn.features.views`)
``%t[0,w,"^\u"]``            Wapiti: whether a pattern matches the value, true or false
``%m[0,w,".?.?$"]``          Wapiti: the part that it matches (`streamlearn.features.token_patterns`)
``%X[0,0]``, ``%M``, ``%T``  Wapiti: the same in lower case
===========================  ==============================================================

``u`` and ``b`` are read as ``U`` and ``B``, as in Wapiti. Every other ``%`` is an error, as in both.
Blank lines and lines that begin with ``#`` are skipped. Beyond the ends of a sequence the
values are CRF++'s ``_B-1``, ``_B-2``, … and ``_B+1``, ``_B+2``, …
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamlearn.errors import ConfigError
from streamlearn.features.views import View, derivation

# Longer numbers and names than any valid ones do not match, so that rejecting them is cheap.
_MACRO = re.compile(
    r"%([xXtTmM])\[\s*([+-]?\d{1,9})\s*,\s*([^\[\]\s\"%]{1,256}?)\s*"
    r"(?:,\s*\"((?:\\.|[^\"\\]){0,256})\"\s*)?\]"
)
_UNKNOWN = re.compile(r"%[^%\]]{0,30}\]?")
_WANTED = 'wanted %x[row,column], %t[row,column,"pattern"] or %m[row,column,"pattern"]'
_KINDS = "UB*T"
MAX_SHIFT = 64


@dataclass(frozen=True, slots=True)
class Macro:
    """One ``%x[shift,view]``, or ``%t`` and ``%m``, whose pattern is part of the view."""

    shift: int
    view: View


@dataclass(frozen=True, slots=True)
class Template:
    """One line of a template.

    Attributes
    ----------
    literals : the text around the macros, one more than there are macros. Features of two templates with
        the same literals are the same feature, as in CRF++, where the expanded string is the identity.
    """

    literals: tuple[str, ...]
    macros: tuple[Macro, ...]

    @property
    def kind(self) -> str:
        """``U``, ``B``, ``*`` or ``T``."""
        return self.literals[0][0]

    @property
    def is_plain_transition(self) -> bool:
        """Whether it fires for every pair of labels, at all positions."""
        return self.kind == "B" and not self.macros

    def expand(self, values: Sequence[str]) -> str:
        """Return the name of the feature with these values: ``U00:the/DT``."""
        pairs = zip(values, self.literals[1:], strict=True)
        return self.literals[0] + "".join(value + literal for value, literal in pairs)


def _view(match: re.Match[str], columns: Sequence[str], where: str) -> View:
    kind, _, text, pattern = match.groups()
    if (kind in "xX") != (pattern is None):
        raise ConfigError(f"{where}: {match[0]!r}: {_WANTED}")
    name, *derivations = text.split(".")
    if name.isdecimal():
        if int(name) >= len(columns):
            raise ConfigError(f"{where}: column {name}, but there are {len(columns)}: {', '.join(columns)}")
        name = columns[int(name)]
    if name not in columns:
        raise ConfigError(f"{where}: no column {name!r}; features.columns has {', '.join(columns)}")
    if pattern is not None:
        derivations.append(f'{kind.lower()}"{pattern}"')
    if kind in "XM":
        derivations.append("lower")
    for each in derivations:
        try:
            derivation(each)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
    return View(name, tuple(derivations))


def _template(line: str, columns: Sequence[str], where: str) -> Template:
    if line[0] not in f"{_KINDS}ub":
        raise ConfigError(f"{where}: {_quoted(line)} begins with none of U, B, *, T (and # for comments)")
    line = line[0].upper() + line[1:]
    literals, macros, end = [], [], 0
    for match in _MACRO.finditer(line):
        shift = int(match[2])
        if abs(shift) > MAX_SHIFT:
            raise ConfigError(f"{where}: row {shift} is further than {MAX_SHIFT} away")
        literals.append(line[end : match.start()])
        macros.append(Macro(shift, _view(match, columns, where)))
        end = match.end()
    literals.append(line[end:])
    for literal in literals:
        if unknown := _UNKNOWN.search(literal):
            raise ConfigError(f"{where}: {_quoted(line)}: {_why_unknown(unknown[0])}")
    if any(" #" in literal for literal in literals[:-1]):
        raise ConfigError(
            f"{where}: {_quoted(line)}: a macro after #, which begins a comment in Wapiti but not in CRF++; "
            "put the comment on a line of its own"
        )
    if line[0] == "T" and macros:
        raise ConfigError(f"{where}: {_quoted(line)} has a macro; triples of labels are plain: write T")
    return Template(tuple(literals), tuple(macros))


def _why_unknown(text: str) -> str:
    if re.match(r"%[xXtTmM]\[\s*[@*]", text):
        return f"{text!r}: wanted a row relative to the current one; rows from the ends (@) are not supported"
    return f"{text!r} is not a macro; {_WANTED}"


def _quoted(line: str) -> str:
    return repr(line if len(line) <= 80 else f"{line[:80]}…")


def parse_templates(text: str, columns: Sequence[str], source: str = "templates") -> list[Template]:
    """Parse the text of a template file.

    Parameters
    ----------
    columns : names of the columns, in the order in which numbers refer to them.
    source : name of the text in errors.

    Raises
    ------
    ConfigError : a line is invalid; the message has the line and the valid choices.

    Examples
    --------
    >>> [t] = parse_templates("U00:%x[-1,0]/%x[0,pos]", ["w", "pos"])
    >>> t.expand(["the", "NN"])
    'U00:the/NN'
    """
    templates = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if line and not line.startswith("#"):
            templates.append(_template(line, columns, f"{source}, line {number}"))
    return templates
