"""Whatever a template file holds, reading it ends with templates or a ConfigError of one line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.errors import ConfigError
from streamlearn.features.templates import parse_templates
from tests.fuzz.hostile import MIB, bounded_memory, one_line_of

PIECES = st.sampled_from(
    [
        *(
            "U",
            "B",
            "*",
            "T",
            "#",
            "00:",
            "%x",
            "%x[",
            "]",
            "[",
            ",",
            "/",
            "-",
            "+",
            "0",
            "1",
            " ",
            "\n",
            "\r",
            "\0",
        ),
        *(
            "%x[0,0]",
            "%x[-1,w.lower]",
            "%x[0,w.suffix3.shape]",
            "w",
            ".lower",
            ".prefix99",
            ".prefix100",
            ".",
        ),
        *(
            "9" * 5000,
            "\u0663",
            "\u2028",
            "\u00b2",
            "%x[64,0]",
            "%x[65,0]",
            "%x[" + "9" * 5000 + ",0]",
            "%x[0," + "9" * 5000 + "]",
            ".lower" * 1000,
        ),
    ]
)


@given(st.lists(PIECES | st.characters(), max_size=30).map("".join))
@settings(deadline=None, max_examples=200)
def test_a_template_is_read_or_refused(text):
    with bounded_memory(8 * MIB), one_line_of(ConfigError):
        for template in parse_templates(text, ["w", "pos"]):
            template.expand(["the"] * len(template.macros))
