import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.errors import ConfigError
from streamlearn.features.views import DERIVATIONS, View, derivation

COMBINED, DECOMPOSED = "É", "E\u0301"
ASTRAL = "𝒳😀"


@pytest.mark.parametrize(
    ("name", "value", "derived"),
    [
        ("lower", "NATO", "nato"),
        ("lower", "İ", "i̇"),
        ("lower", "ẞ", "ß"),
        ("lower", "東京", "東京"),
        ("lower", "", ""),
        ("shape", "IL-2b", "XX-dx"),
        ("shape", "2½²", "d½d"),
        ("shape", "東京7", "xxd"),
        ("shape", "İstanbul", "Xxxxxxxx"),
        ("shape", COMBINED, "X"),
        ("shape", DECOMPOSED, "X"),
        ("shape", "हिन्दी", "xxx"),
        ("shape", ASTRAL, "X😀"),
        ("shape", "", ""),
        ("short_shape", "Kinase-12", "Xx-d"),
        ("short_shape", "USA", "X"),
        ("short_shape", "a--b", "x-x"),
        ("digits", "1998-05", "0000-00"),
        ("digits", "٣", "0"),
        ("digits", "no", "no"),
        ("kind", "1998", "digit"),
        ("kind", "1,998.5", "number"),
        ("kind", "½", "number"),
        ("kind", "--", "punct"),
        ("kind", "❤\ufe0f", "punct"),
        ("kind", "", "punct"),
        ("kind", "NATO", "upper"),
        ("kind", "A", "upper"),
        ("kind", "the", "lower"),
        ("kind", "Paris", "title"),
        ("kind", "McDonald", "mixed"),
        ("kind", "東京", "uncased"),
        ("kind", "हिन्दी", "uncased"),
        ("kind", DECOMPOSED + "tat", "title"),
        ("kind", "IL2", "alnum"),
        ("kind", "x-ray", "alnum"),
        ("has_digit", "B747", "1"),
        ("has_digit", "٣", "1"),
        ("has_digit", "½", "0"),
        ("has_upper", "iPod", "1"),
        ("has_upper", "the", "0"),
        ("has_upper", "東京", "0"),
        ("has_hyphen", "low-cost", "1"),
        ("has_hyphen", "low–cost", "0"),
        ("has_hyphen", "", "0"),
        ("prefix1", "the", "t"),
        ("prefix3", "to", "to"),
        ("prefix2", ASTRAL, ASTRAL),
        ("prefix99", "x" * 100, "x" * 99),
        ("suffix3", "running", "ing"),
        ("suffix3", "to", "to"),
        ("suffix1", "", ""),
        ("suffix1", ASTRAL, "😀"),
    ],
)
def test_a_derivation_reads_off(name, value, derived):
    assert derivation(name)(value) == derived


def test_derivations_apply_left_to_right():
    assert View("w", ("lower", "suffix3"))("RUNNING") == "ing"
    assert View("w", ("suffix2", "shape", "prefix1"))("iPAD") == "X"
    assert View("w")("As It Is") == "As It Is"


@pytest.mark.parametrize(
    "name", ["upper", "prefix", "prefix0", "suffix100", "suffix03", "suffix-1", "suffix1 ", "prefix٣", ""]
)
def test_an_unknown_derivation_is_refused_with_those_that_there_are(name):
    with pytest.raises(ConfigError) as refused:
        derivation(name)
    assert str(refused.value) == (
        f"no view {name!r}; there are lower, shape, short_shape, digits, kind, has_digit, has_upper, "
        "has_hyphen, prefixN, suffixN (N = 1 … 99)"
    )


@given(value=st.text(max_size=12), name=st.sampled_from([*DERIVATIONS, "prefix2", "suffix99"]))
def test_whatever_the_text_a_derivation_gives_text_that_can_be_encoded(value, name):
    derivation(name)(value).encode()
