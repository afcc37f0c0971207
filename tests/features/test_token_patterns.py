import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from streamlearn.features.token_patterns import matcher, recognizer

# The classes of Wapiti's manual page, by the general categories of Unicode.
CLASSES = {
    "a": ("L", "M"),
    "d": ("Nd",),
    "l": ("Ll",),
    "u": ("Lu", "Lt"),
    "p": ("P", "S"),
    "w": ("L", "M", "Nd"),
}


def is_in(item, character):
    if item == ".":
        return True
    if item[0] != "\\":
        return item == character
    classes = CLASSES.get(item[1].lower())
    if classes is None:
        return item[1] == character
    return unicodedata.category(character).startswith(classes) == item[1].islower()


def lengths(items, text):
    """Yield the lengths of all matches of (character, repeat) pairs at the start of a text, best first."""
    if not items:
        yield 0
        return
    (item, repeat), rest = items[0], items[1:]
    here = bool(text) and is_in(item, text[0])
    if repeat == "*":
        yield from lengths(rest, text)
        yield from (1 + n for n in (lengths(items, text[1:]) if here else ()))
    else:
        yield from (1 + n for n in (lengths(rest, text[1:]) if here else ()))
        if repeat == "?":
            yield from lengths(rest, text)


def first_match(items, text, at_start, at_end):
    """Return the first match by trying everything, as the manual page describes it; None if there is none."""
    for begin in range(1 if at_start else len(text) + 1):
        for length in lengths(items, text[begin:]):
            if not at_end or begin + length == len(text):
                return text[begin : begin + length]
    return None


ITEMS = st.sampled_from(
    [".", "a", "B", "é", "1", "+", "[", "(", "|", "^", *(f"\\{c}" for c in "aAdDlLuUpPwW.*?$\\")]
)
TEXTS = st.text(st.sampled_from("aaBBé1+-[(|^.*?$\\ ßДא़"), max_size=7)


@given(
    st.lists(st.tuples(ITEMS, st.sampled_from(["", "*", "?"])), max_size=5),
    TEXTS,
    st.booleans(),
    st.booleans(),
)
def test_matching_equals_trying_everything(items, text, at_start, at_end):
    if not at_start and items and items[0][0] == "^":
        items = items[1:]
    pattern = "^" * at_start + "".join(item + repeat for item, repeat in items) + "$" * at_end
    found = first_match(items, text, at_start or pattern.startswith("^"), at_end)
    assert matcher(pattern)(text) == (found or "")
    assert recognizer(pattern)(text) == ("false" if found is None else "true")


def test_the_time_is_linear_where_backtracking_takes_forever():
    assert recognizer("x*x*x*x*x*x*x*x*y")("x" * 50_000) == "false"
