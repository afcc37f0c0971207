"""Checkpoints of every format version still load, and learning continues from them as from new ones.

    python -m tests.checkpoint.test_golden

writes the one of the current format, if there is none yet. Such a file is never written again: it shows
whoever changes the state of a learner that the states of users must still be readable.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from streamlearn.app.build_tagger import open_state
from streamlearn.checkpoint.codec import FORMAT_VERSION
from streamlearn.checkpoint.local_files import checkpoint_files, open_checkpoint
from streamlearn.data import Position, StreamIdentity, TopicPartition
from tests.cli.command import save_state
from tests.sequences import make_examples, write_config

DATA = Path(__file__).parents[1] / "data"
VERSIONS = range(1, FORMAT_VERSION + 1)
LEARNERS = ("perceptron", "adf")

POSITIONS = {
    TopicPartition("orders", 0): Position(41, 39, 1_700_000_000_000, 0xDEADBEEF),
    TopicPartition("orders", 1): Position(7),
}

PREDICTED = {
    "perceptron": [
        "I-X I-X O I-X I-X O O I-X O B-Y",
        "O B-Y O O B-Y B-Y B-Y O B-Y",
        "B-X O I-X B-Y B-Y B-Y",
    ],
    "adf": ["B-Y O O I-X B-Y O I-X B-Y O B-Y", "O I-X B-Y O B-Y B-Y B-Y O B-Y", "B-X O I-X B-Y B-Y B-Y"],
}


def path_of(version: int, learner: str) -> Path:
    return DATA / f"checkpoint-v{version}-{learner}.slcp"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_field_is_read(version: int, learner: str) -> None:
    checkpoint = open_checkpoint(path_of(version, learner)).checkpoint
    assert (checkpoint.model_id, checkpoint.run_id, checkpoint.seq) == ("test", "r", 3)
    assert (checkpoint.created_unix, checkpoint.sequences_seen) == (1.7e9, 40)
    assert checkpoint.identity == StreamIdentity("cluster", {"orders": "id"})
    assert checkpoint.positions == POSITIONS
    assert checkpoint.config["learner"]["kind"] == learner


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_it_predicts_as_it_did_and_is_learned_on_from(version: int, learner: str) -> None:
    tagger = open_state(str(path_of(version, learner)))[0].tagger
    assert tagger.labels == ["B-X", "I-X", "O", "B-Y"]
    assert [" ".join(labels) for labels in tagger.predict_many(make_examples(3))] == PREDICTED[learner]
    known = tagger.gauges()["features_known"]
    tagger.learn_many(make_examples(40, seed=1))
    assert tagger.gauges()["features_known"] > known
    assert all(np.isfinite(array).all() for array in tagger._learner.weights()[:3])


def write(learner: str) -> None:
    """Write the file of the current format."""
    target = path_of(FORMAT_VERSION, learner)
    if target.exists():
        sys.exit(f"{target} is there, and stays as it is")
    with tempfile.TemporaryDirectory() as folder:
        config = write_config(Path(folder) / "config.yaml", learner={"kind": learner})
        directory = save_state(config, make_examples(40), Path(folder) / "state", positions=POSITIONS)
        DATA.mkdir(exist_ok=True)
        target.write_bytes(checkpoint_files(directory)[0].read_bytes())


if __name__ == "__main__":
    for kind in LEARNERS:
        write(kind)
