"""A rewritten configuration says what was wanted, and keeps every other character."""

import difflib
from pathlib import Path

import pytest

from streamlearn.config.load import load
from streamlearn.config.rewrite import rewritten
from streamlearn.errors import ConfigError

TEXT = """\
# What this is for.
model: mine

learner:
  kind: adf
  rate: 0.05  # measured
  # Keep this one.
  window: 200

# The end.
checkpoint:
  keep: 5
"""


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(TEXT)
    return path


def test_a_value_is_replaced_and_comments_stay(path: Path) -> None:
    text = rewritten(path, ["learner.rate=0.1"], path)
    assert changed_lines(TEXT, text) == ["-   rate: 0.05  # measured", "+   rate: 0.1  # measured"]


def test_a_missing_key_stands_behind_the_last_of_its_section(path: Path) -> None:
    text = rewritten(path, ["learner.sigma=1"], path)
    assert changed_lines(TEXT, text) == ["+   sigma: 1"]
    assert "window: 200\n  sigma: 1\n\n# The end." in text


def test_a_missing_section_comes_at_the_end(path: Path) -> None:
    text = rewritten(path, ["metrics.port=0"], path)
    assert text == TEXT + "\nmetrics:\n  port: 0\n"


def test_another_kind_of_learner_takes_the_place_of_the_old_one(path: Path) -> None:
    text = rewritten(path, ["learner.kind=perceptron", "learner.average=none"], path)
    assert "learner:\n  kind: perceptron\n  average: none\n\n# The end." in text


def test_nothing_to_change_changes_nothing(path: Path) -> None:
    assert rewritten(path, ["learner.rate=0.05"], path) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Only a comment.\n",
        "learner:\n",
        "learner: {kind: adf}",
        "learner: {kind: adf, rate: 0.2,}\n",
        '{"model": "m", "learner": {"kind": "adf"}}',
        "learner:\n  kind: adf",
        "learner:\n    kind: adf  # why\n",
        "learner:\n  rate:\n  kind: adf\nlabels:\n  known:\n    - a\n    - b\n",
        "learner: {kind: adf}\nfeatures:\n  columns: [w]\n  templates: |\n    U00:%x[0,w]\n\n    B\n",
        "features:\n  columns: [w]\n  templates: |\n    B\nlearner:\n  kind: adf\n---\n"[:-4],
    ],
)
def test_every_way_of_writing_it_gives_what_was_wanted(text: str, tmp_path: Path) -> None:
    path, target = tmp_path / "a.yaml", tmp_path / "b.yaml"
    path.write_text(text)
    wanted = [
        "learner.kind=adf",
        "learner.rate=0.1",
        "learner.sigma=2",
        "labels.known=[x, y]",
        "features.cache=7",
    ]
    target.write_text(rewritten(path, wanted, target))
    assert load(target) == load(path, wanted)


def test_what_cannot_be_rewritten_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("learner: &one\n  kind: adf\n  rate: &rate 0.1\n  sigma: *rate\n")
    with pytest.raises(ConfigError, match=r"--set learner\.rate=0\.2"):
        rewritten(path, ["learner.rate=0.2"], path)


def test_a_template_file_is_still_found_from_elsewhere(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "t.txt").write_text("U00:%x[0,w]\n")
    (here / "a.yaml").write_text("features:\n  columns: [w]\n  template_file: t.txt\n")
    text = rewritten(here / "a.yaml", ["learner.average=none"], there / "b.yaml")
    (there / "b.yaml").write_text(text)
    assert load(there / "b.yaml") == load(here / "a.yaml", ["learner.average=none"])
