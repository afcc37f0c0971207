"""What `streamlearn deadletters` prints of a file of dead letters; no broker is needed for it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamlearn.cli.main import app
from streamlearn.stream.deadletters.dead_letter import DeadLetter
from streamlearn.stream.deadletters.spool import Spool
from tests.sequences import write_config

NOON_MS = 1_700_000_000_123
NOON = "2023-11-14T22:13:20.123+00:00"
LETTER = DeadLetter("orders", 0, 7, NOON_MS, b"k", b"\xff", [], "encoding", "not UTF-8", "np", "0.1")
# None, and what no calendar has.
TIMES = [NOON_MS, -1, 1 << 62, -(1 << 62)]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    state.mkdir()
    letters = [replace(LETTER, offset=number, timestamp=at) for number, at in enumerate(TIMES)]
    Spool(state / "dead-letters.jsonl").append(letters)
    return write_config(tmp_path / "config.yaml", checkpoint={"directory": str(state)})


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["deadletters", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_a_record_is_shown_with_its_time_and_for_scripts_with_the_number(config: Path) -> None:
    shown = [run("show", config, f"orders[0]@{number}") for number in range(len(TIMES))]
    times = [dict(line.split(maxsplit=1) for line in text.splitlines())["timestamp"] for text in shown]
    assert times == [NOON, "none", f"{1 << 62} ms", f"{-(1 << 62)} ms"]
    assert json.loads(run("show", config, "orders[0]@0", "--json"))["timestamp"] == NOON_MS


def test_a_time_that_is_shown_can_be_asked_for(config: Path) -> None:
    listed = run("list", config, "--since", NOON, "--until", NOON).splitlines()
    assert [line.split()[0] for line in listed[:-1]] == ["orders[0]@0"]
