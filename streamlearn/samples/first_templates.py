"""Templates to begin with, for words or characters whose labels mark spans, or are tags."""

from collections.abc import Iterator, Sequence

# Lines with the place of the column for a word or character; a heading begins each group.
_SPANS = """\
# The word and its neighbours.
%x[0,{w}]
%x[-2,{w}.lower]
%x[-1,{w}.lower]
%x[0,{w}.lower]
%x[1,{w}.lower]
%x[2,{w}.lower]
%x[-1,{w}.lower]/%x[0,{w}.lower]
%x[0,{w}.lower]/%x[1,{w}.lower]
# What unseen words share with seen ones: the shape (`IL-2` is X-d), prefixes and suffixes.
%x[-1,{w}.short_shape]
%x[0,{w}.short_shape]
%x[1,{w}.short_shape]
%x[-1,{w}.short_shape]/%x[0,{w}.short_shape]
%x[0,{w}.short_shape]/%x[1,{w}.short_shape]
%x[0,{w}.lower.prefix3]
%x[0,{w}.lower.prefix4]
%x[0,{w}.lower.suffix2]
%x[0,{w}.lower.suffix3]
%x[0,{w}.lower.suffix4]
"""

_TAGS = """\
# The surrounding words, after Ratnaparkhi 1996.
%x[-2,{w}]
%x[-1,{w}]
%x[0,{w}]
%x[1,{w}]
%x[2,{w}]
%x[0,{w}.lower]
# The form of the word, for unknown ones.
%x[0,{w}.prefix1]
%x[0,{w}.prefix2]
%x[0,{w}.prefix3]
%x[0,{w}.suffix1]
%x[0,{w}.suffix2]
%x[0,{w}.suffix3]
%x[0,{w}.suffix4]
%x[0,{w}.short_shape]
"""

_CHARACTERS = """\
# Characters and pairs of them: whether a word ends between two depends on both.
%x[-1,{w}]
%x[0,{w}]
%x[1,{w}]
%x[-2,{w}]/%x[-1,{w}]
%x[-1,{w}]/%x[0,{w}]
%x[0,{w}]/%x[1,{w}]
%x[1,{w}]/%x[2,{w}]
%x[-1,{w}]/%x[1,{w}]
%x[-1,{w}]/%x[0,{w}]/%x[1,{w}]
"""

_OF_A_COLUMN = """\
# The column {c}, around the word and with it.
%x[-2,{c}]
%x[-1,{c}]
%x[0,{c}]
%x[1,{c}]
%x[2,{c}]
%x[-1,{c}]/%x[0,{c}]
%x[0,{c}]/%x[1,{c}]
%x[-1,{c}]/%x[0,{c}]/%x[1,{c}]
%x[0,{w}]/%x[0,{c}]
"""


def first_templates(word: str, others: Sequence[str], *, is_spans: bool, is_characters: bool) -> list[str]:
    """Return the lines of a template file.

    Parameters
    ----------
    word, others : columns, as macros refer to them: a name or a number.
    is_spans : whether the labels mark spans; else each is a tag of its word.
    is_characters : whether the values of `word` are single characters.

    Examples
    --------
    >>> first_templates("w", [], is_spans=True, is_characters=False)[1]
    'U00:%x[0,w]'
    """
    text = _CHARACTERS if is_characters else _SPANS if is_spans else _TAGS
    texts = [text, *(_OF_A_COLUMN.replace("{c}", other) for other in others)]
    return [*_numbered("".join(texts).replace("{w}", word).splitlines()), "# Which label follows which.", "B"]


def _numbered(lines: Sequence[str]) -> Iterator[str]:
    count = 0
    for line in lines:
        if line.startswith("#"):
            yield line
        else:
            yield f"U{count:02}:{line}"
            count += 1
