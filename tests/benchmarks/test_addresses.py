"""The study of addresses, small, so that it works when it is wanted."""

import gzip
import json
from pathlib import Path

import pytest

from streamlearn.data import Example
from tests.benchmarks import addresses
from tests.sequences import make_examples, write_config

LEARNER = "perceptron, average of all"


def written(example: Example, src: str, others: bool) -> str:
    """Return a line; the labels of others mean something else."""
    labels = [f"other-{label}" if others else label for label in example.labels or []]
    return json.dumps({"columns": example.columns, "labels": labels, "src": src}) + "\n"


def test_each_order_has_its_change_and_the_rises_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config, train = write_config(tmp_path / "config.yaml"), tmp_path / "train.jsonl.gz"
    with gzip.open(train, "wt") as file:
        file.writelines(written(example, "labeled", others=False) for example in make_examples(300))
        file.writelines(written(example, "synthetic_map", others=True) for example in make_examples(500))
    monkeypatch.setattr(addresses, "LEARNERS", {LEARNER: addresses.LEARNERS[LEARNER]})
    files = ["--train", str(train), "--config", str(config), "--output", str(tmp_path / "out")]
    addresses.main([*files, "--block", "50", "--jobs", "1", "--set", "drift.quantum=5"])
    printed = capsys.readouterr().out
    assert (tmp_path / "out" / "table.md").read_text() == printed
    rows = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith(f"| {LEARNER}")]
    assert [line for line in printed.splitlines() if line.startswith("It")] == [
        "It becomes easier after 300 sequences.",
        "It becomes harder after 500 sequences.",
    ]
    for _, before, after, *_, seen, _ in rows:
        assert float(after) < float(before) - 20
        assert "adwin" in seen
