import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamlearn.config.load import load
from tests.cli.test_commands import streamlearn
from tests.sequences import make_examples, write_config, write_jsonl

GRID = ["--grid", "learner.rate=0.05,0.2", "--folds", "2", "--set", "learner.kind=adf"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path / "config.yaml")


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "train.jsonl.gz", make_examples(200))


def test_it_prints_one_object_of_the_documented_shape(config: Path, train: Path) -> None:
    done = streamlearn("tune", config, "--train", train, "--limit", 100, *GRID, "--json")
    report = json.loads(done.stdout)
    assert report.keys() == {"sequences", "folds", "metric", "winner", "within_one_sd", "trials", "output"}
    assert (report["sequences"], report["folds"], report["metric"]) == (100, 2, "f1")
    assert [trial.keys() for trial in report["trials"]] == [{"settings", "mean", "sd", "scores"}] * 2
    assert report["winner"] == report["trials"][0]["settings"]
    assert report["trials"][0]["mean"] >= report["trials"][1]["mean"]


def test_the_winning_configuration_works_like_the_options_that_it_prints(
    config: Path, train: Path, tmp_path: Path
) -> None:
    winning = tmp_path / "winning.yaml"
    done = streamlearn("tune", config, "--train", train, *GRID, "--output", winning)
    *_, line, written = done.stdout.decode().splitlines()
    assert written == f"written to {winning}"
    options = line.split()
    assert options[0] == "--set"
    assert load(winning) == load(config, options[1::2])
    tested = streamlearn("evaluate", winning, "--train", train, "--json")
    assert json.loads(tested.stdout)["train"]["sequences"] == 200


def test_nothing_to_tune_ends_with_64_and_says_what_to_do(config: Path, train: Path) -> None:
    done = streamlearn("tune", config, "--train", train)
    assert done.returncode == 64
    assert b"--grid learner.average=all,none" in done.stderr


def test_an_output_that_cannot_be_written_is_told_before_the_work(config: Path, train: Path) -> None:
    done = streamlearn("tune", config, "--train", train, *GRID, "--output", config.parent / "no" / "x.yaml")
    assert done.returncode == 64
    assert done.stdout == b""


def test_ctrl_c_ends_it_with_130_and_without_a_traceback(config: Path) -> None:
    # Standard input that never ends: it waits to read when the signal comes.
    command = [sys.executable, "-c", "from streamlearn.cli.main import main; main()", "tune", str(config)]
    with subprocess.Popen(
        [*command, "--train", "-", *GRID], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(b'{"columns": 1}\n')
        process.stdin.flush()
        # A rejected sequence is reported, so it is reading.
        assert b"rejected" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in rest
