"""The study of drift, small, so that it works when it is wanted."""

from pathlib import Path

import pytest

from tests.benchmarks import drift
from tests.sequences import make_examples, write_config, write_jsonl


def test_an_average_of_all_is_the_last_to_see_that_the_world_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "config.yaml")
    train = write_jsonl(tmp_path / "train.jsonl.gz", make_examples(300))
    fading, all_of_it = "perceptron, exponential average", "perceptron, average of all"
    files = ["--train", str(train), "--config", str(config), "--output", str(tmp_path / "out")]
    quick = {fading: (*drift.LEARNERS[fading], "learner.half_life=20"), all_of_it: drift.LEARNERS[all_of_it]}
    monkeypatch.setattr(drift, "LEARNERS", quick)
    drift.main([*files, "--learners", all_of_it, fading, "--block", "50", "--jobs", "1"])
    printed = capsys.readouterr().out
    rows = {
        cells[0].strip(): [float(cell) for cell in cells[1:]]
        for cells in (line.strip("| ").split("|") for line in printed.splitlines()[2:])
    }
    assert list(rows) == [all_of_it, fading]
    for before, first, *_ in rows.values():
        assert first < before - 30
    assert rows[fading][2] > rows[all_of_it][2] + 20
    assert (tmp_path / "out" / "table.md").read_text() == printed
