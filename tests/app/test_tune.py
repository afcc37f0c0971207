import json
import math
from pathlib import Path

import pytest

from streamlearn.app.build_learner import LEARNERS
from streamlearn.app.tune import CrossValidation, Trial, TuningResult, at_the_end, candidates, first_examples
from streamlearn.app.tuning_grid import GRIDS, default_grid, parse_grid
from streamlearn.config.load import load
from streamlearn.corpus.example_reader import Located
from streamlearn.errors import ConfigError, RecordError, UsageError
from tests.sequences import make_examples, to_json, write_config, write_jsonl

GRID = parse_grid(["learner.average=all,none"])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_config(tmp_path / "config.yaml")


def located(count: int) -> list[Located]:
    return [Located(example, "made-up", line) for line, example in enumerate(make_examples(count), 1)]


def result_of(config: Path, processes: int = 1, seed: int = 0) -> TuningResult:
    validation = CrossValidation(candidates(config, [], GRID), located(120), 3, seed)
    assert sum(1 for _ in validation.run(processes)) == validation.total == 6
    return validation.result()


def test_the_result_has_one_score_a_fold_and_the_best_first(config: Path) -> None:
    found = result_of(config)
    assert {trial.settings for trial in found.trials} == {
        ("learner.average=all",),
        ("learner.average=none",),
    }
    assert all(len(trial.scores) == 3 and 0 < trial.sd < trial.mean < 1 for trial in found.trials)
    assert found.trials[0].mean >= found.trials[1].mean
    assert found.metric == "f1"


def test_the_result_depends_on_the_seed_but_not_on_the_processes(config: Path) -> None:
    assert result_of(config) == result_of(config, processes=2)
    assert result_of(config) != result_of(config, seed=1)


def test_labels_that_mark_no_spans_are_scored_by_token(tmp_path: Path) -> None:
    labels = {"O": "NN", "B-X": "VB", "I-X": "DT", "B-Y": "IN"}
    config = write_config(tmp_path / "config.yaml", labels={"map": labels})
    assert result_of(config).metric == "token_accuracy"


def test_every_learner_that_has_a_rate_has_a_grid_which_it_understands(config: Path) -> None:
    assert GRIDS.keys() <= LEARNERS.keys()
    for kind in GRIDS:
        grid = default_grid(load(config, [f"learner.kind={kind}"]))
        points = candidates(config, [f"learner.kind={kind}"], grid)
        assert len({point.config.learner for point in points}) == len(points)
        assert len(points) == math.prod(len(values) for values in grid.values()) > 4


def test_a_learner_without_a_rate_says_what_can_be_done(config: Path) -> None:
    with pytest.raises(UsageError, match="no learning rate to tune"):
        default_grid(load(config))


def test_a_point_that_is_no_configuration_is_refused_before_any_work(config: Path) -> None:
    with pytest.raises(ConfigError, match=r"--grid learner\.averge=1: .*did you mean 'average'"):
        candidates(config, [], {"learner.averge": ["1"]})


@pytest.mark.parametrize("options", [["rate"], ["=1"], ["a=1,"], ["a="], ["a=1", "a=2"]])
def test_a_grid_of_another_form_is_refused(options: list[str]) -> None:
    with pytest.raises(UsageError, match="--grid"):
        parse_grid(options)


def test_a_key_that_changes_nothing_that_is_learned_is_no_part_of_a_grid() -> None:
    with pytest.raises(
        UsageError, match=r"metrics\.port does not affect the model; use keys of features, labels"
    ):
        parse_grid(["metrics.port=1,2"])


def test_fewer_sequences_than_folds_are_refused(config: Path) -> None:
    with pytest.raises(UsageError, match="2 sequences"):
        CrossValidation(candidates(config, [], GRID), located(2), 3, 0)


def test_the_first_good_sequences_are_taken_and_bad_ones_heard_once(config: Path, tmp_path: Path) -> None:
    good = [to_json(example) for example in make_examples(4)]
    file = tmp_path / "train.jsonl"
    file.write_bytes(
        b"\n".join([good[0], json.dumps({"columns": {"w": ["a"]}, "labels": ["O"]}).encode(), *good[1:]])
    )
    heard: list[RecordError] = []
    found = first_examples(load(config), [str(file)], 3, heard.append)
    assert [each.line for each in found] == [1, 3, 4]
    assert len(heard) == 1
    assert f"{file}:2" in str(heard[0])
    whole = write_jsonl(tmp_path / "whole.jsonl.gz", make_examples(10))
    assert len(first_examples(load(config), [str(whole)], None, heard.append)) == 10


def test_what_is_within_one_standard_deviation_is_near() -> None:
    winner, near, far = (
        Trial((f"a={a}",), (mean - 0.01, mean + 0.01)) for a, mean in enumerate((0.9, 0.89, 0.8))
    )
    assert TuningResult("f1", (winner, near, far)).near == [near]


def test_only_numbers_have_an_end_of_the_grid() -> None:
    grid = {"rate": ("1", "2", "3"), "average": ("a", "b"), "one": ("1",)}
    assert at_the_end(grid, Trial(("rate=2", "average=a", "one=1"), (1, 1))) == []
    assert at_the_end(grid, Trial(("rate=3", "average=b", "one=1"), (1, 1))) == ["rate"]
