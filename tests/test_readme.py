"""What the README promises."""

import re
from pathlib import Path

from tests.reference import PARTS, README, updated

ROOT = Path(__file__).parent.parent


def test_the_reference_is_what_the_code_says() -> None:
    text = README.read_text()
    assert {part for _, part in re.findall(r"(<!-- reference: (\w+) -->)", text)} == PARTS.keys()
    assert updated(text) == text, "python -m tests.reference writes it anew"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = (ROOT / ".ci" / "run").read_text().strip().splitlines()[-1]
    assert command.startswith("python3 -m venv")
    assert command in README.read_text()


def test_files_and_modules_that_the_readme_names_exist() -> None:
    text = README.read_text()
    for name in re.findall(r"(?:configs|streamlearn|tests)/[\w/-]+\.(?:py|yaml|json)", text):
        assert (ROOT / name).is_file(), name
    for module in re.findall(r"python -m (tests[\w.]+)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
