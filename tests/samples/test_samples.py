"""The samples: valid records that their configuration learns from in one pass."""

import random
from pathlib import Path

import pytest

from streamlearn.app.evaluate import Evaluation
from streamlearn.app.quickstart import SAMPLES, write_quickstart
from streamlearn.config.load import load
from streamlearn.errors import UsageError


@pytest.mark.parametrize("sample", SAMPLES)
def test_labels_are_valid_spans_over_all_tokens(sample: str) -> None:
    grammar, _ = SAMPLES[sample]
    for seed in range(200):
        example = grammar.draw(random.Random(seed))
        assert example.labels is not None
        assert len(example) == len(example.labels)
        assert not any("{" in word for column in example.columns.values() for word in column)
        before = "O"
        for label in example.labels:
            assert label == "O" or label[0] == "B" or before[1:] == label[1:]
            before = label


def test_the_configuration_learns_the_sample_and_the_test_set_is_new(tmp_path: Path) -> None:
    config, train, test = write_quickstart("ner", tmp_path)
    assert not set(train.read_text().splitlines()) & set(test.read_text().splitlines())
    refused: list[object] = []
    evaluation = Evaluation(load(config), refused.append)
    evaluation.train([str(train)])
    assert evaluation.test([str(test)])["f1"] > 0.9
    assert refused == []


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_configuration_loads(sample: str, tmp_path: Path) -> None:
    config, _, _ = write_quickstart(sample, tmp_path)
    assert load(config).source.topics == [sample]


def test_files_that_exist_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_quickstart("ner", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]
