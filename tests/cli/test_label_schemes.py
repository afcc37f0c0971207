"""Labels in schemes that the configuration does not expect, as a user meets them."""

import json
from pathlib import Path

import pytest

from streamlearn.data import Example
from tests.cli.command import save_state, streamlearn
from tests.sequences import write_config, write_jsonl

IOB1 = [
    (["Ann", "met", "Bob"], ["I-PER", "O", "I-PER"]),
    (["New", "York", "is", "old"], ["I-LOC", "I-LOC", "O", "O"]),
    (["Ann", "Bob", "slept"], ["I-PER", "B-PER", "O"]),
    (["York", "is", "in", "New", "York"], ["I-LOC", "O", "O", "I-LOC", "I-LOC"]),
] * 10
SUFFIXED = [
    (words, [label if label == "O" else "-".join(label.split("-")[::-1]) for label in labels])
    for words, labels in IOB1
]
ONLY_I = [(["a", "b"], ["I-X", "I-X"])] * 20
ONLY_B_AND_I = [(["a", "b"], ["B-X", "I-X"]), (["c", "d", "e"], ["B-Y", "I-Y", "O"])] * 20
FEATURES = {"columns": ["w"], "templates": "U0:%x[0,w]\nB", "max_features": 256, "max_edge_features": 16}


def files(folder: Path, sequences: list, **labels: object) -> tuple[Path, Path]:
    """Write a configuration and sequences to learn."""
    config = write_config(folder / "c.yaml", features=FEATURES, labels=labels, learner={"kind": "adf"})
    examples = [Example({"w": words}, names) for words, names in sequences]
    return config, write_jsonl(folder / "data.jsonl.gz", examples)


def evaluated(config: Path, file: Path) -> tuple[int, dict, str]:
    done = streamlearn("evaluate", config, "--train", file, "--test", file, "--json")
    report = json.loads(done.stdout) if done.stdout else {}
    return done.returncode, report.get("test", {}), done.stderr.decode()


@pytest.mark.parametrize("sequences", [IOB1, SUFFIXED], ids=["IOB1", "mark last"])
@pytest.mark.parametrize("scheme", [{"data": "auto"}, {"model": "iobes"}])
def test_one_setting_learns_any_scheme(tmp_path: Path, sequences: list, scheme: dict) -> None:
    code, report, said = evaluated(*files(tmp_path, sequences, scheme=scheme))
    assert (code, report["f1"], report["token_accuracy"], said) == (0, 1.0, 1.0, "")


@pytest.mark.parametrize(
    ("sequences", "constrain", "told", "code"),
    [
        (IOB1, "bio", ["are no BIO (labels.constrain); is it IOB1?", "can never be predicted"], 0),
        (ONLY_I, "bio", ["are no BIO", "no labelling with the known labels I-X is valid BIO"], 78),
        (ONLY_B_AND_I, "iobes", ["are no IOBES", "B-X, I-X, B-Y, I-Y can never be predicted"], 0),
    ],
    ids=["IOB1", "no valid labelling", "O only"],
)
def test_a_constraint_that_the_labels_cannot_meet_is_reported_before_and_while_learning(
    tmp_path: Path, sequences: list, constrain: str, told: list[str], code: int
) -> None:
    config, file = files(tmp_path, sequences, constrain=constrain)
    checked = streamlearn("check", config, "--data", file)
    assert checked.returncode == 78
    assert told[0] in checked.stdout.decode()
    got, _, said = evaluated(config, file)
    assert got == code, said
    assert [text for text in told if text not in said] == []
    assert said.count("learning looks broken (gold_scheme)") == 1


def test_what_suits_the_configuration_passes_the_check(tmp_path: Path) -> None:
    config, file = files(tmp_path, IOB1, scheme={"data": "iob1"})
    done = streamlearn("check", config, "--data", file)
    assert done.returncode == 0, done.stdout
    assert "labels look like IOB1, 0 labellings are no IOB1" in done.stdout.decode()


def test_a_label_that_costs_the_scores_of_spans_is_named(tmp_path: Path) -> None:
    config, file = files(tmp_path, [*IOB1, (["a", "b"], ["-", "I-PER"])])
    assert (
        "no F1 of spans, because '-' belongs" in streamlearn("check", config, "--data", file).stdout.decode()
    )


@pytest.mark.parametrize("sequences", [IOB1, SUFFIXED], ids=["IOB1", "mark last"])
def test_predictions_are_written_in_the_scheme_of_the_data(tmp_path: Path, sequences: list) -> None:
    config, file = files(tmp_path, sequences, scheme={"data": "auto", "model": "iobes"})
    state = save_state(
        config, [Example({"w": words}, names) for words, names in sequences * 5], tmp_path / "s"
    )
    done = streamlearn("predict", state, file, "--marginals", "--k-best", 2)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["labels"] for each in found] == [labels for _, labels in sequences]
    assert all(each["alternatives"][0]["labels"] == each["labels"] for each in found)


def test_a_sequence_without_a_valid_labelling_is_rejected_and_a_model_without_one_is_refused(
    tmp_path: Path,
) -> None:
    # Nothing of one token is valid IOBES without O and S.
    examples = [Example({"w": ["a", "b"]}, ["B-X", "E-X"])] * 5
    config, file = files(tmp_path, [(["a", "b"], None), (["a"], None)], constrain="iobes")
    state = save_state(config, examples, tmp_path / "some")
    done = streamlearn("predict", state, file)
    one, other = map(json.loads, done.stdout.splitlines())
    assert one["labels"] == ["B-X", "E-X"]
    assert "no labelling of 1 tokens" in other["rejected"]["message"]
    assert (done.returncode, b"no labelling of 1 tokens" in done.stderr) == (65, True)
    config, file = files(tmp_path, ONLY_I, constrain="bio")
    none = save_state(config, [Example({"w": words}, names) for words, names in ONLY_I], tmp_path / "none")
    done = streamlearn("predict", none, file)
    assert (done.returncode, done.stdout) == (78, b"")
    assert streamlearn("predict", none, file, "--constrain", "none").returncode == 0


def test_weights_that_are_not_finite_end_an_evaluation_as_they_end_the_daemon(tmp_path: Path) -> None:
    config, file = files(tmp_path, IOB1)
    done = streamlearn("evaluate", config, "--train", file, "--test", file, "--set", "learner.rate=1e308")
    assert (done.returncode, done.stdout) == (65, b"")
