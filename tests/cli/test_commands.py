"""The commands that need no broker, as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import save_state, streamlearn
from tests.sequences import make_examples, to_json, write_config, write_jsonl


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_config(tmp_path_factory.mktemp("config") / "config.yaml")


@pytest.fixture(scope="module")
def state(config: Path) -> Path:
    """A state directory with a checkpoint of 300 sequences."""
    return save_state(config, make_examples(300), config.parent / "state")


def test_help_answers_at_once_since_nothing_is_imported_that_takes_long() -> None:
    code = """
import sys, typer
from streamlearn.cli.main import app
print(typer.main.get_command(app).get_help(typer.Context(typer.main.get_command(app))))
print(sorted({"numba", "numpy", "kafka", "river", "pydantic", "prometheus_client"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    assert b"evaluate" in done.stdout
    assert done.stdout.splitlines()[-1] == b"[]"


def test_evaluate_prints_one_object_of_the_documented_shape(config: Path, tmp_path: Path) -> None:
    train = write_jsonl(tmp_path / "train.jsonl.gz", make_examples(400))
    test = write_jsonl(tmp_path / "test.jsonl.gz", make_examples(100, seed=9))
    done = streamlearn("evaluate", config, "--train", train, "--test", test, "--passes", 2, "--json")
    report = json.loads(done.stdout)
    assert report.keys() == {"train", "test", "saved"}
    assert report["saved"] is None
    assert report["train"].keys() == {
        "sequences",
        "tokens",
        "seconds",
        "passes",
        "progressive_token_accuracy",
    }
    assert (report["train"]["sequences"], report["train"]["passes"]) == (400, 2)
    assert report["test"].keys() == {
        "sequences", "tokens", "token_accuracy", "precision", "recall", "f1", "per_label",
    }  # fmt: skip
    assert report["test"]["sequences"] == 100
    assert 0.6 < report["test"]["token_accuracy"] <= 1
    assert set(report["test"]["per_label"]["X"]) == {"precision", "recall", "f1", "support"}


def test_evaluate_with_another_learner_gives_other_weights(config: Path, tmp_path: Path) -> None:
    train = write_jsonl(tmp_path / "train.jsonl.gz", make_examples(200))
    scores = set()
    for average in ("all", "none"):
        options = ["--set", f"learner.average={average}", "--json"]
        done = streamlearn("evaluate", config, "--train", train, "--test", train, *options)
        scores.add(json.loads(done.stdout)["test"]["token_accuracy"])
    assert len(scores) == 2


def test_evaluate_tells_what_it_refuses_and_goes_on(config: Path, tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    lines = [to_json(make_examples(1)[0]), b'{"columns": {"w": ["a"]}, "labels": ["O"]}', b"{"]
    train.write_bytes(b"\n".join(lines))
    done = streamlearn("evaluate", config, "--train", train)
    errors = done.stderr.decode()
    assert done.returncode == 0
    assert f"{train}:2: no column 'pos'" in errors.replace("\n", "")
    assert f"{train}:3:" in errors
    assert b"learned 1 sequences" in done.stdout


def test_evaluate_without_a_single_sequence_ends_with_64(config: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    done = streamlearn("evaluate", config, "--train", empty)
    assert done.returncode == 64
    assert b"no sequence to learn from" in done.stderr


def test_predict_labels_json_lines_and_columns(state: Path, tmp_path: Path) -> None:
    examples = make_examples(5, seed=5)
    file = write_jsonl(tmp_path / "new.jsonl.gz", examples)
    lines = streamlearn("predict", state, file).stdout.splitlines()
    predicted = [json.loads(line)["labels"] for line in lines]
    assert [len(labels) for labels in predicted] == [len(example) for example in examples]
    columns = streamlearn("predict", state, file, "--output", "columns").stdout.decode()
    blocks = columns.strip().split("\n\n")
    assert [[row.split("\t")[-1] for row in block.split("\n")] for block in blocks] == predicted


def test_predict_reads_columns_without_labels_from_standard_input(state: Path) -> None:
    done = streamlearn("predict", state, "-", stdin=b"w1 p1\nw2 p2\n\nw3 p3\n")
    assert [len(json.loads(line)["labels"]) for line in done.stdout.splitlines()] == [2, 1]


def test_predict_goes_on_after_a_bad_sequence_and_ends_with_65(state: Path) -> None:
    bad = b'{"columns": {"w": ["a"]}}\n' + to_json(make_examples(1)[0])
    done = streamlearn("predict", state, "-", stdin=bad)
    assert done.returncode == 65
    rejected, answered = map(json.loads, done.stdout.splitlines())
    assert rejected["rejected"]["message"] == "-:1: no column 'pos'; the record has w"
    assert "labels" in answered
    assert b"-:1: no column 'pos'" in done.stderr


def test_inspect_names_what_is_in_a_checkpoint(state: Path) -> None:
    report = json.loads(streamlearn("inspect", state, "--json").stdout)
    assert report["sequences_seen"] == 300
    assert report["positions"] == [{"topic": "orders", "partition": 0, "next_offset": 300}]
    assert set(report["labels"]) == {"O", "B-X", "I-X", "B-Y"}
    names = [name for name, _ in report["heaviest"]["O"]]
    assert len(names) == 8
    assert all(name.startswith(("U00:w", "U01:", "*02:p")) for name in names)
    text = streamlearn("inspect", state).stdout.decode()
    assert "orders[0]: next offset 300" in text
    assert report["heaviest"]["O"][0][0] in text


def test_inspect_cuts_nothing_off_where_it_is_piped(config: Path, tmp_path: Path) -> None:
    long = save_state(config, make_examples(5), tmp_path / ("x" * 120))
    assert str(long).encode() in streamlearn("inspect", long).stdout


@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_a_checkpoint_that_is_not_there_is_one_line(command: str, tmp_path: Path) -> None:
    done = streamlearn(command, tmp_path, *(["-"] if command == "predict" else []))
    assert done.returncode == 74
    assert done.stderr.decode().count("\n") == 1


def test_checkpoints_are_listed_verified_and_gone_back_to(config: Path, tmp_path: Path) -> None:
    directory = save_state(config, make_examples(10), tmp_path / "state")
    newest = next(directory.glob("*.slcp"))
    assert streamlearn("checkpoints", "rollback", directory, 2).returncode == 74
    line = streamlearn("checkpoints", "list", directory).stdout.decode()
    assert line.split()[:3] == ["3", "2023-11-14", "22:13:20+00:00"]
    assert line.endswith("10 sequences  orders[0]@10\n")
    assert json.loads(streamlearn("checkpoints", "rollback", directory, 3, "--json").stdout)["seq"] == 3
    assert streamlearn("checkpoints", "verify", directory).returncode == 0
    data = bytearray(newest.read_bytes())
    data[-30] ^= 1
    newest.write_bytes(data)
    done = streamlearn("checkpoints", "verify", directory)
    assert done.returncode == 74
    assert b"damaged" in done.stdout
    assert streamlearn("checkpoints", "list", tmp_path).returncode == 74


def test_check_tells_every_problem_on_a_line(config: Path, tmp_path: Path) -> None:
    assert streamlearn("check", config).returncode == 0
    done = streamlearn("check", config, "--set", "learner.averge=1")
    assert done.returncode == 78
    assert b"did you mean 'average'?" in done.stdout
    done = streamlearn("check", config, "--set", "learner.averge=1", "--set", "labels.max=0")
    assert done.stdout.count(b"\n") == done.stdout.count(b"problem") == 2
    directory = f"checkpoint.directory={tmp_path}"
    options = ["--live", "--timeout", 1, "--set", "kafka.bootstrap_servers=127.0.0.1:1", "--set", directory]
    done = streamlearn("check", config, *options)
    assert done.returncode == 69
    text = done.stdout.decode()
    assert "state: " in text
    assert "broker: 127.0.0.1:1" in text


def test_a_wrong_command_line_ends_with_64() -> None:
    assert streamlearn("evaluate", "--nonsense").returncode == 64


def test_an_output_that_is_full_is_one_line(state: Path, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "new.jsonl.gz", make_examples(2000))
    command = [sys.executable, "-c", "from streamlearn.cli.main import main; main()", "predict"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*command, str(state), str(file)], stdout=full, stderr=subprocess.PIPE, check=False, timeout=120
        )
    assert done.returncode == 74
    assert done.stderr.decode() == "streamlearn: output: No space left on device\n"
