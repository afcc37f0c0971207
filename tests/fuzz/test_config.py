"""Whatever a configuration, a variable or an option holds: settings, or a ConfigError of one line."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.config.load import load
from streamlearn.errors import ConfigError
from tests.fuzz.hostile import MIB, bounded_memory, damaged, one_line_of

CONFIGS = Path(__file__).parents[2] / "configs"
SEEDS = [(CONFIGS / "address.yaml").read_bytes(), b"", b"model: a\n"]
PIECES = [
    *(
        b"\n",
        b": ",
        b"- ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"&a ",
        b"*a",
        b"<<: *a\n",
        b"? ",
        b"| ",
        b"\t",
        b"%TAG",
        b"---\n",
    ),
    *(
        b"!!int x",
        b"!!float x",
        b"!!bool x",
        b"!!timestamp x",
        b"!!binary x",
        b"!!set {a}",
        b"!!python/name:os",
    ),
    *(
        b"2001-99-99",
        b"0b_",
        b"1_000",
        b"9" * 5000,
        b".nan",
        b"1e400",
        b'"\\0"',
        b'"\\ud800"',
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *(b"[" * 40, b"{a: " * 40, b"null", b"0", b"~", b"learner: {kind: adf}\n", b"template_file: /\n"),
]
KEYS = [
    "model",
    "kafka",
    "features.columns",
    "features.template_file",
    "checkpoint.directory",
    "learner",
    "learner.kind",
    "labels.map",
    "source.start",
    "source.topics",
    ".",
    "a.b",
]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in [name for name in os.environ if name.startswith("STREAMLEARN_")]:
        monkeypatch.delenv(name)


def read_or_refuse(path, overrides=()):
    with bounded_memory(64 * MIB), one_line_of(ConfigError):
        load(path, overrides)


@given(damaged(SEEDS, PIECES) | st.binary(max_size=100))
@settings(deadline=None, max_examples=100)
def test_a_file_is_read_or_refused(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_bytes(text)
    read_or_refuse(path)


@given(
    st.sampled_from(KEYS) | st.text(max_size=8),
    damaged([b"a", b"[a, b]", b"{a: b}", b"1"], PIECES) | st.binary(max_size=20),
)
@settings(deadline=None, max_examples=100)
def test_an_option_and_a_variable_are_read_or_refused(tmp_path, key, value):
    path = tmp_path / "c.yaml"
    path.write_text("")
    text = os.fsdecode(value.replace(b"\0", b""))
    read_or_refuse(path, [f"{key}={text}"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMLEARN_" + key.replace("\0", "").replace("=", "").upper().replace(".", "__"), text)
        read_or_refuse(path)


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
        "a0: &a0 {x: y}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)),
        "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 50)),
        "labels: &a\n  map: *a\n",
        "a: " + "[" * 100_000,
        "a: " + "{a: " * 100_000,
        "a" * 2_000_000,
    ],
    ids=["laughs", "merges", "chain", "circle", "lists", "mappings", "long"],
)
def test_what_unfolds_without_end_is_refused(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with (
        bounded_memory(32 * MIB),
        pytest.raises(ConfigError, match=r"wanted at most|deeper than|longer than"),
    ):
        load(path)


@pytest.mark.parametrize(
    "value",
    [
        "@hunter2",
        "*hunter2",
        "!hunter2",
        "[hunter2",
        "hunter2: hunter2: x",
        "%hunter2",
        "!!int hunter2",
        "{hunter2",
        "'hunter2",
        "2001-99-99 hunter2",
    ],
)
def test_no_value_is_quoted_where_yaml_is_wrong(tmp_path, value):
    path = tmp_path / "c.yaml"
    path.write_text(f"kafka:\n  sasl_plain_password: {value}\n")
    refusal = ""
    try:
        load(path)
    except ConfigError as error:
        refusal = str(error)
    assert "hunter2" not in refusal
