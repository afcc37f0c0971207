"""What `streamlearn predict` prints besides the labels, as a user runs it."""

import itertools
import json
import math
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from streamlearn.app.build_tagger import open_state
from streamlearn.stream.record_codec import decode
from tests import naive
from tests.cli.command import save_state, streamlearn
from tests.learners.build import Bench
from tests.sequences import TEMPLATES, make_examples, write_config, write_jsonl

SCHEMA = resources.files("streamlearn.stream").joinpath("prediction.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
# As the plain reference reads them.
NUMBERED = TEMPLATES.replace(",w]", ",0]").replace(",pos]", ",1]")
EXAMPLES = [example for example in make_examples(40, seed=5) if len(example) <= 5]


def make_state(folder: Path, **sections: object) -> Path:
    folder.mkdir()
    config = write_config(folder / "config.yaml", **sections)
    return save_state(config, make_examples(60), folder / "state")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("predict")


@pytest.fixture(scope="module")
def crf(folder: Path) -> Path:
    return make_state(folder / "crf", learner={"kind": "adf"})


@pytest.fixture(scope="module")
def perceptron(folder: Path) -> Path:
    return make_state(folder / "perceptron", learner={"kind": "perceptron"})


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    return write_jsonl(folder / "new.jsonl.gz", EXAMPLES)


def predicted(*arguments: object) -> list[dict]:
    done = streamlearn("predict", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def enumerated(state: Path, example) -> dict[tuple[str, ...], float]:
    """Return exp(score) of every labelling, over dictionaries of strings."""
    tagger = open_state(str(state))[0].tagger
    bench = Bench(tagger, tagger._encoder, tagger._labels, tagger._space, tagger._learner, None)
    weights = bench.named(*tagger._learner.weights())
    rows = list(zip(example.columns["w"], example.columns["pos"], strict=True))
    features = naive.template_features(NUMBERED.split(), rows)
    score = naive.StructuredPerceptron().score
    paths = itertools.product(tagger.labels, repeat=len(example))
    return {path: math.exp(score(features, path, weights)) for path in paths}


def test_probabilities_and_alternatives_equal_enumeration(crf: Path, file: Path) -> None:
    lines = predicted(crf, file, "--marginals", "--k-best", 4)
    assert len(lines) == len(EXAMPLES)
    for example, line in zip(EXAMPLES, lines, strict=True):
        VALIDATOR.validate(line)
        weights = enumerated(crf, example)
        z = sum(weights.values())
        best = sorted(weights.values(), reverse=True)[:4]
        assert line["probability"] == pytest.approx(best[0] / z)
        for t, label in enumerate(line["labels"]):
            wanted = sum(weight for path, weight in weights.items() if path[t] == label) / z
            assert line["marginals"][t] == pytest.approx(wanted)
        assert line["alternatives"][0]["labels"] == line["labels"]
        for one, weight in zip(line["alternatives"], best, strict=True):
            assert math.exp(one["score"]) == pytest.approx(weight)
            assert one["probability"] == pytest.approx(weight / z)
            assert weights[tuple(one["labels"])] == pytest.approx(weight)


def test_the_probabilities_of_all_labels_equal_enumeration(crf: Path, file: Path) -> None:
    for example, line in zip(EXAMPLES, predicted(crf, file, "--all-marginals"), strict=True):
        VALIDATOR.validate(line)
        weights = enumerated(crf, example)
        z = sum(weights.values())
        for t, found in enumerate(line["label_marginals"]):
            assert found[line["labels"][t]] == line["marginals"][t]
            for label, probability in found.items():
                wanted = sum(weight for path, weight in weights.items() if path[t] == label) / z
                assert probability == pytest.approx(wanted)


def test_a_line_is_answered_by_a_line(crf: Path) -> None:
    good = {"id": 7, "columns": {"w": ["w1"], "pos": ["p1"]}, "more": [None, 1.5]}
    lines = [json.dumps(good), "{", json.dumps({"id": 8, "tokens": ["a"], "labels": ["O"]}), json.dumps(good)]
    done = streamlearn("predict", crf, "-", stdin="\n".join(lines).encode())
    assert done.returncode == 65
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        VALIDATOR.validate(answer)
    labels = answers[0].pop("labels")
    assert (len(labels), answers[0], answers[3]["labels"]) == (1, good, labels)
    reasons = [answer.get("rejected", {}).get("reason") for answer in answers]
    assert reasons == [None, "syntax", "missing_column", None]
    assert answers[2]["id"] == 8
    assert "labels" not in answers[2]


def test_what_is_written_can_be_read_as_records(crf: Path, file: Path) -> None:
    done = streamlearn("predict", crf, file, "--marginals", "--k-best", 2)
    for example, line in zip(EXAMPLES, done.stdout.splitlines(), strict=True):
        read = decode(line, "json")
        assert read.columns == example.columns
        assert read.labels == json.loads(line)["labels"]


def test_what_is_not_asked_is_not_written(crf: Path, file: Path) -> None:
    assert {key for line in predicted(crf, file) for key in line} == {"id", "columns", "labels"}
    keys = {key for line in predicted(crf, file, "--k-best", 1) for key in line}
    assert keys == {"id", "columns", "labels", "alternatives"}


def test_columns_gain_one_before_the_labels(crf: Path, file: Path) -> None:
    lines = predicted(crf, file, "--marginals")
    done = streamlearn("predict", crf, file, "--marginals", "--k-best", 1, "--output", "columns")
    blocks = done.stdout.decode().strip().split("\n\n")
    for example, line, block in zip(EXAMPLES, lines, blocks, strict=True):
        rows = [row.split("\t") for row in block.split("\n")]
        columns = [list(column) for column in zip(*rows, strict=True)]
        assert columns[:2] == list(example.columns.values())
        assert [float(value) for value in columns[2]] == pytest.approx(line["marginals"], rel=1e-5)
        assert columns[3:] == [example.labels, line["labels"]]


def test_a_perceptron_knows_scores_but_no_probabilities(perceptron: Path, file: Path) -> None:
    done = streamlearn("predict", perceptron, file, "--marginals")
    assert (done.returncode, done.stdout) == (64, b"")
    assert done.stderr.decode().count("\n") == 1
    assert b"trained by a perceptron, whose scores are not probabilities" in done.stderr
    for line in predicted(perceptron, file, "--k-best", 3):
        VALIDATOR.validate(line)
        scores = [one["score"] for one in line["alternatives"]]
        assert scores == sorted(scores, reverse=True)
        assert all(one.keys() == {"labels", "score"} for one in line["alternatives"])


def test_columns_hold_one_labelling(crf: Path, file: Path) -> None:
    done = streamlearn("predict", crf, file, "--k-best", 2, "--output", "columns")
    assert (done.returncode, done.stdout) == (64, b"")
    assert b"--k-best 2: columns can hold only one labelling; use --output json" in done.stderr


@pytest.mark.parametrize("k", [0, 17])
def test_k_is_limited(crf: Path, file: Path, k: int) -> None:
    assert streamlearn("predict", crf, file, "--k-best", k).returncode == 64


def test_constraints_come_from_the_model_unless_they_are_given(folder: Path, crf: Path, file: Path) -> None:
    bound = make_state(folder / "bound", learner={"kind": "adf"}, labels={"constrain": "bio"})
    free, valid = predicted(crf, file, "--k-best", 3), predicted(bound, file, "--k-best", 3)
    assert not all(naive.is_valid(line["labels"], "bio") for line in free)
    assert all(naive.is_valid(one["labels"], "bio") for line in valid for one in line["alternatives"])
    assert predicted(crf, file, "--k-best", 3, "--constrain", "bio") == valid
    assert predicted(bound, file, "--k-best", 3, "--constrain", "none") == free
