from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.errors import ConfigError
from streamlearn.features.templates import MAX_SHIFT, parse_templates
from tests import naive

COLUMNS = ["w", "pos"]
WANTED = 'wanted %x[row,column], %t[row,column,"pattern"] or %m[row,column,"pattern"]'
VIEWS = (
    "lower, shape, short_shape, digits, kind, has_digit, has_upper, has_hyphen, prefixN, suffixN (N = 1 … 99)"
)

# The sentence and the expansions of the CRF++ manual, "Preparing feature templates": the current token is
# the third.
SENTENCE = [("He", "PRP"), ("reckons", "VBZ"), ("the", "DT"), ("current", "JJ"), ("account", "NN")]
MANUAL = {
    "U:%x[0,0]": "U:the",
    "U:%x[0,1]": "U:DT",
    "U:%x[-1,0]": "U:reckons",
    "U:%x[-2,1]": "U:PRP",
    "U:%x[0,0]/%x[0,1]": "U:the/DT",
    "U:ABC%x[0,1]123": "U:ABCDT123",
}


def parse_one(line):
    [template] = parse_templates(line, COLUMNS)
    return template


def expand(line, rows, t):
    """Expand with our parser and the reference's way to read a value."""
    template = parse_one(line)
    values = [
        naive.expand(f"%x[{macro.shift},{COLUMNS.index(macro.view.column)}]", rows, t)
        for macro in template.macros
    ]
    return template.expand(values)


@pytest.mark.parametrize(("line", "expanded"), MANUAL.items())
def test_the_examples_of_the_manual_of_crf_plus_plus(line, expanded):
    assert expand(line, SENTENCE, 2) == naive.expand(line, SENTENCE, 2) == expanded


def test_the_template_file_of_the_chunking_example_of_crf_plus_plus():
    text = """
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]

U10:%x[-2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]

# Bigram
B
"""
    templates = parse_templates(text, COLUMNS)
    assert [t.kind for t in templates] == list("UUUUUUB")
    assert [t.is_plain_transition for t in templates] == [False] * 6 + [True]
    assert [len(t.macros) for t in templates] == [1, 1, 1, 2, 1, 3, 0]
    assert templates[4].literals == ("U10:", "")


def test_columns_by_name_and_views_and_space_within_a_macro():
    template = parse_one("U0:%x[ +1 , w.lower.suffix3 ]|%x[0,pos]|%x[0,1]")
    views = [(macro.shift, macro.view.column, macro.view.derivations) for macro in template.macros]
    assert views == [(1, "w", ("lower", "suffix3")), (0, "pos", ()), (0, "pos", ())]
    assert template.literals == ("U0:", "|", "|", "")


def test_a_number_means_a_column_whatever_its_name():
    [template] = parse_templates("U:%x[0,1]", ["1", "0"])
    assert template.macros[0].view.column == "0"


def test_comments_blank_lines_and_line_ends_of_windows_are_skipped():
    templates = parse_templates("\r\n# B\r\n  #U\r\n\r\nU:%x[0,0] \r\nB01\r\n", COLUMNS)
    assert [t.literals for t in templates] == [("U:", ""), ("B01",)]
    assert parse_templates("", COLUMNS) == []


def test_a_percent_sign_begins_a_macro_as_in_crf_plus_plus_and_wapiti():
    unknown = (
        "%[0,0]",
        "%q[0,0]",
        "%x [0,0]",
        "%x{0,0}",
        "%",
        "%%x[0,0]",
        "%x[0,0",
        "%t[0,0]",
        '%x[0,0,"a"]',
    )
    for text in unknown:
        for line in (f"U:{text}", f"U:%x[0,0]{text}", f"B{text}", f"*{text}|%x[0,0]"):
            with pytest.raises(ConfigError, match=r"^templates, line 1: .*wanted %x\[row,column\]"):
                parse_one(line)


def values(line, value):
    return [macro.view(value) for macro in parse_one(line).macros]


# From the pattern file that comes with Wapiti (dat/nppattern.txt), and its manual page.
WAPITI = {
    "U:wrd-1 X=%X[ 0,0]": ["il-2b"],
    '*:Pre-2 X=%m[ 0,0,"^.?.?"]': ["IL"],
    '*:Suf-3 X=%m[ 0,0,".?.?.?$"]': ["-2b"],
    'u:suf=%M[0,0,".?.?.?.?.?.?.?$"]': ["il-2b"],
    r'*:Caps? X=%t[ 0,0,"\u"]': ["true"],
    r'*:AllC? X=%t[ 0,0,"^\u*$"]': ["false"],
    r'*:InsP? X=%t[ 0,0,".\p."]': ["true"],
    r'*:AllN? X=%T[ 0,0,"^\d*$"]/%t[0,0,"\d"]': ["false", "true"],
    r'U:%m[0,w.lower.prefix2,"\l\l*"]': ["i"],
}


@pytest.mark.parametrize(("line", "found"), WAPITI.items())
def test_the_patterns_of_wapiti(line, found):
    assert values(line, "IL-2b") == found


def test_the_types_of_wapiti_may_be_in_lower_case():
    assert [parse_one(line).literals for line in ("u:a", "b", "B")] == [("U:a",), ("B",), ("B",)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X:%x[0,0]", "'X:%x[0,0]' begins with none of U, B, *, T (and # for comments)"),
        ("T:%x[0,0]", "'T:%x[0,0]' has a macro; triples of labels are plain: write T"),
        ("t:%x[0,0]", "'t:%x[0,0]' begins with none of U, B, *, T (and # for comments)"),
        ("U:%x[0,2]", "column 2, but there are 2: w, pos"),
        ("U:%x[0,-1]", "no column '-1'; features.columns has w, pos"),
        ("U:%x[0,word]", "no column 'word'; features.columns has w, pos"),
        ("U:%x[65,0]", "row 65 is further than 64 away"),
        ("U:%x[-65,0]", "row -65 is further than 64 away"),
        ("U:%x[0]", f"'U:%x[0]': '%x[0]' is not a macro; {WANTED}"),
        ("U:%x[0,0]/%x", f"'U:%x[0,0]/%x': '%x' is not a macro; {WANTED}"),
        ("U:%x[a,0]", f"'U:%x[a,0]': '%x[a,0]' is not a macro; {WANTED}"),
        ("U:%x[0,w p]", f"'U:%x[0,w p]': '%x[0,w p]' is not a macro; {WANTED}"),
        (
            "U:%x[@-1,0]",
            "'U:%x[@-1,0]': '%x[@-1,0]': wanted a row relative to the current one; rows from the ends (@) "
            "are not supported",
        ),
        (
            "U:%x[0,0] # not %x[1,0]",
            "'U:%x[0,0] # not %x[1,0]': a macro after #, which begins a comment in Wapiti but not in CRF++; "
            "put the comment on a line of its own",
        ),
        ('U:%t[0,0,"**"]', '"**": nothing to repeat before *; write \\* for the character'),
        (
            "U:%x[0,w.upper]",
            f"no view 'upper'; there are {VIEWS}",
        ),
        (
            "U:%x[0,w.]",
            f"no view ''; there are {VIEWS}",
        ),
    ],
)
def test_a_wrong_line_is_refused_with_its_number_and_what_there_is(line, message):
    with pytest.raises(ConfigError) as refused:
        parse_templates(f"# one\n\n{line}\nB", COLUMNS, "chunk.template")
    assert str(refused.value) == f"chunk.template, line 3: {message}"


def test_macros_reach_as_far_as_the_limit():
    template = parse_one(f"U:%x[-{MAX_SHIFT},0]%x[{MAX_SHIFT},0]")
    assert [macro.shift for macro in template.macros] == [-MAX_SHIFT, MAX_SHIFT]


PIECES = st.sampled_from(
    [*"UBT*#[],0-w. \n\u2028\x00٣é", "%x", "9" * 20, ".lower", "%x[0,0]", "%x[-1,pos]", '%t[0,0,"', '"]']
)


@given(text=st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20))
def test_any_text_is_templates_or_a_refusal(text):
    with suppress(ConfigError):
        assert all(t.kind in "UB*T" for t in parse_templates(text, COLUMNS))


macros = st.tuples(st.integers(-4, 4), st.integers(0, 1)).map(lambda m: f"%x[{m[0]},{m[1]}]")
lines = st.lists(macros | st.sampled_from(["/", "|", "é", "0", " x"]), max_size=5).map("".join)


@given(line=lines, kind=st.sampled_from("UB*"), t=st.integers(0, 4))
def test_expansion_is_that_of_crf_plus_plus(line, kind, t):
    line = f"{kind}01:{line}".strip()
    assert expand(line, SENTENCE, t) == naive.expand(line, SENTENCE, t)
