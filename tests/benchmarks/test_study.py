"""The accuracy study, small, so that it works when it is wanted."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from streamlearn.app.build_learner import LEARNERS as KINDS
from streamlearn.app.build_tagger import build_tagger
from streamlearn.config.load import load
from streamlearn.data import Example
from tests.benchmarks import study
from tests.benchmarks.accuracy.results import Results
from tests.benchmarks.accuracy.runs import Run, has_converged, read
from tests.benchmarks.accuracy.tagging import part_of, tag_jnlpba
from tests.benchmarks.accuracy.tasks import CONFIGS, LEARNERS, Task, tasks
from tests.sequences import make_examples, write_config, write_jsonl


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(
        "made-up",
        write_config(tmp_path / "config.yaml"),
        write_jsonl(tmp_path / "train.jsonl.gz", make_examples(150)),
        write_jsonl(tmp_path / "test.jsonl.gz", make_examples(50, seed=9)),
    )


@pytest.fixture
def options(tmp_path: Path) -> Namespace:
    return Namespace(
        output=tmp_path / "study", learners=["perceptron", "adf, 3 looks"], orders=1, max_passes=2, jobs=0
    )


def test_it_measures_once_and_goes_on_where_it_was(
    task: Task, options: Namespace, capsys: pytest.CaptureFixture[str]
) -> None:
    study.run([task], options)
    table = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["made-up", "perceptron"], ["made-up", "adf, 3 looks"]]
    assert all(40 < float(row[2]) < 100 for row in rows)
    assert (options.output / "table.md").read_text() == table
    kept = (options.output / "results.jsonl").read_text()
    study.run([task], options)
    assert (options.output / "results.jsonl").read_text() == kept
    assert capsys.readouterr().out == table


def test_it_draws_a_curve_for_every_task(task: Task, options: Namespace) -> None:
    pytest.importorskip("matplotlib", reason="the curves need the extra 'study'")
    study.run([task], options)
    assert (options.output / "made-up.png").read_bytes().startswith(b"\x89PNG")


def test_a_line_that_was_cut_off_is_measured_again(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run, other = Run(task, "perceptron", "tune"), Run(task, "adf", "tune")
    results = Results(path)
    results.add(run, {"scores": [0.5]})
    with path.open("a") as file:
        file.write('{"key": "half')
    results = Results(path)
    results.add(other, {"scores": [0.6]})
    assert run in results
    assert [json.loads(line)["scores"] for line in path.read_text().splitlines()] == [[0.5], [0.6]]


def test_converged_means_that_five_scores_are_alike() -> None:
    assert not has_converged([0.9] * 4)
    assert has_converged([0.1, *[0.9, 0.90001] * 3])
    assert not has_converged([0.9, 0.9, 0.9, 0.9, 0.9002])


def test_every_learner_can_do_the_tasks_that_suit_it_with_every_setting(tmp_path: Path) -> None:
    found = tasks(tmp_path, tmp_path)
    small = ("features.max_features=64", "features.max_edge_features=64")
    for task in found:
        for learner in LEARNERS.keys() - set(task.without):
            for settings in study.grid_of(learner):
                build_tagger(task.load(f"learner.kind={LEARNERS[learner].kind}", *settings, *small))
    assert {variant.kind for variant in LEARNERS.values()} == KINDS.keys()
    assert len({task.name for task in found}) == len(found)


def test_tasks_with_triples_are_of_the_second_order(tmp_path: Path) -> None:
    by_name = {task.name: task for task in tasks(tmp_path, tmp_path)}
    for name in ("jnlpba", "jnlpba-pos"):
        plain, triples = by_name[name].load(), by_name[f"{name}-triples"].load()
        assert triples.features.templates == f"{plain.features.templates}\nT"
        assert triples.model_dump(exclude={"features"}) == plain.model_dump(exclude={"features"})


def test_parts_of_speech_come_from_a_tagger_that_did_not_learn_the_sentence(tmp_path: Path) -> None:
    for name, tag in (("genia_pos", "pos"), ("jnlpba", "labels")):
        (tmp_path / name).mkdir()
        for split, seed in (("train", 1), ("test", 2)):
            examples = [
                Example({"w": each.columns["w"]}, each.columns["pos"] if tag == "pos" else each.labels)
                for each in make_examples(60, seed)
            ]
            write_jsonl(tmp_path / name / f"{split}.jsonl.gz", examples)
    output = tmp_path / "out"
    tag_jnlpba(tmp_path, output, 1)
    config = load(CONFIGS.parent / "tests" / "benchmarks" / "accuracy" / "ner-pos.yaml")
    for split in ("train", "test"):
        tagged = [located.example for located in read(config, output / f"{split}.jsonl.gz")]
        plain = [
            located.example
            for located in read(load(CONFIGS / "ner.yaml"), tmp_path / "jnlpba" / f"{split}.jsonl.gz")
        ]
        assert [each.columns["w"] for each in tagged] == [each.columns["w"] for each in plain]
        assert [each.labels for each in tagged] == [each.labels for each in plain]
        assert {tag[0] for each in tagged for tag in each.columns["pos"]} == {"p"}
    assert part_of(plain[0]) == part_of(Example({"w": list(plain[0].columns["w"])}))
