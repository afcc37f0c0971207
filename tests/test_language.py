"""Messages, help texts and docstrings are understood at first reading: the worst words stay out of them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("*/README.md")),
    *sorted(ROOT.glob("tests/*/README.md")),
    *sorted(ROOT.glob("configs/*.yaml")),
    *sorted(path for path in ROOT.glob("deploy/**/*") if path.suffix in {".yaml", ".json", ".service"}),
    *sorted(ROOT.glob("streamlearn/**/*.html")),
    *sorted(ROOT.glob("streamlearn/**/*.json")),
]
SOURCES = sorted(ROOT.glob("streamlearn/**/*.py"))

# What to write instead.
UNCLEAR = {
    r"of late|lately": "recent, recently",
    r"anew": "again, new",
    r"for ever": "indefinitely",
    r"so (?:many|long|much|few)": "the number itself: for N seconds, up to N",
    r"lacks?|lacking": "has no, is missing",
    r"(?<!there )is no \w+": "is not a",
    r"borne|bears": "above the limit, tolerates",
    r"goes on|go on|going on": "continues",
    r"beside": "next to, in addition to",
    r"taken for each other": "confused",
    r"worlds?": "distribution, concept drift",
    r"told": "reported",
    r"nothing of": "no",
    r"dares?": "does",
}
PATTERN = re.compile(
    "|".join(f"(?P<g{i}>\\b(?:{words})\\b)" for i, words in enumerate(UNCLEAR)), re.IGNORECASE
)


def strings(path):
    """Yield (line, text) of every string in a Python file, docstrings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def unclear(where, text):
    for match in PATTERN.finditer(text):
        advice = next(better for i, better in enumerate(UNCLEAR.values()) if match[f"g{i}"])
        yield f"{where}: {match[0]!r}: say {advice}"


def test_the_check_finds_what_it_looks_for():
    assert len(list(unclear("here", "Labels of late, for ever"))) == 2
    assert not list(unclear("here", "There is no label; as many labels as tokens"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_are_in_plain_english(path):
    lines = path.read_text().splitlines()
    assert [found for i, line in enumerate(lines, 1) for found in unclear(i, line)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_messages_and_docstrings_are_in_plain_english(path):
    assert [found for line, text in strings(path) for found in unclear(line, text)] == []


def test_docstrings_are_imperatives_of_the_field():
    wrong = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                first = (ast.get_docstring(node) or "").split(" ")[0]
                if first in {"Give", "Gives", "Tell", "Tells", "Say", "Says"}:
                    wrong.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {first}")
    assert wrong == []
