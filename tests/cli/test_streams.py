"""Standard streams that are closed, piped or full: no command ends in a traceback, or in broken lines."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = f"{sys.executable} -c 'from streamlearn.cli.main import main; main()'"


def shell(script: str) -> subprocess.CompletedProcess[str]:
    script = script.replace("streamlearn", COMMAND)
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "script",
    [
        "streamlearn --version >&-",
        "streamlearn --version >&- 2>&- <&-",
        "streamlearn check /nowhere.yaml >&-",
        "streamlearn check /nowhere.yaml 2>&1 | true",
        "streamlearn --help | true",
        "streamlearn inspect /nowhere 2>&-",
        "streamlearn --version > /dev/full",
    ],
)
def test_a_closed_or_full_stream_is_no_traceback(script: str) -> None:
    done = shell(script)
    assert "Traceback" not in done.stdout + done.stderr
    assert "Exception ignored" not in done.stdout + done.stderr


def test_a_file_that_is_opened_never_takes_the_place_of_a_closed_stream() -> None:
    code = "from streamlearn.cli.main import _open_closed_streams as open_closed; open_closed(); "
    code += "print(open('/dev/null').fileno() > 2)"
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "{code}" <&- 2>&-'],
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == b"True\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate --nonsense", "No such option: --nonsense; see streamlearn evaluate --help"),
        (
            "predict a b --k-best 99",
            "Invalid value for '--k-best': wanted less than or equal to 16; see streamlearn predict --help",
        ),
        (
            "predict a b --k-best x",
            "Invalid value for '--k-best': wanted a whole number; see streamlearn predict --help",
        ),
    ],
)
def test_what_is_wrong_with_a_command_line_is_one_line_in_our_words(arguments: str, message: str) -> None:
    done = shell(f"streamlearn {arguments}")
    assert (done.returncode, done.stderr) == (64, f"streamlearn: {message}\n")


def test_no_choice_is_refused_in_words_of_a_library() -> None:
    done = shell("streamlearn produce x --format foo --topic t")
    assert done.returncode == 64
    assert done.stderr.count("\n") == 1
    assert "Value error" not in done.stderr
    assert all(word in done.stderr for word in ("--format", "foo", "json", "msgpack"))


def test_what_is_piped_is_never_wrapped(tmp_path: Path) -> None:
    config = tmp_path / f"{'long' * 40}.yaml"
    config.write_text("{}")
    [line] = [line for line in shell(f"streamlearn check {config}").stdout.splitlines() if "config:" in line]
    assert f"{config}: model " in line
    assert max(map(len, shell("streamlearn predict --help").stdout.splitlines())) > 200


def test_consoles_are_made_in_one_place() -> None:
    import streamlearn.cli

    made = {
        path.name for path in Path(streamlearn.cli.__path__[0]).glob("*.py") if "Console(" in path.read_text()
    }
    # Pictures are as wide as a terminal, wherever they are shown.
    assert made == {"console.py", "demo.py", "top.py"}
