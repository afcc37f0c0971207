"""What a checkpoint saves: restored bit for bit, or refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamlearn.app.build_tagger import build_tagger
from streamlearn.checkpoint.reading import Loaded
from streamlearn.config.load import load
from streamlearn.daemon.bad_records import Tolerance
from streamlearn.daemon.duplicates import Duplicates
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.errors import CheckpointError
from streamlearn.monitor.drift import DriftWatch
from tests.checkpoint.build import make_checkpoint
from tests.sequences import make_examples, write_config
from tests.states import differences


def make_state(folder: Path) -> LearningState:
    tagger = build_tagger(load(write_config(folder / "config.yaml")))
    watch = DriftWatch(["adwin"], ["error", "unknown"], 10, [], [lambda: None])
    return LearningState(tagger, watch, Duplicates("key", 20, 50), Tolerance(0.5, 10))


def learn(state: LearningState) -> None:
    with Pipeline(state) as pipeline:
        pipeline.submit(state.tagger.encode(make_examples(520)).batch, 0.0)
        learned = pipeline.settle()
    assert learned is not None
    state.history(learned)


def saved_by(state: LearningState) -> dict[str, Any]:
    snapshot = state.snapshot({})
    return {name: getattr(snapshot, name) for name in ("model", "progressive", "reading")}


def loaded_from(saved: dict[str, Any], sequences_seen: int) -> Loaded:
    return Loaded(replace(make_checkpoint(), sequences_seen=sequences_seen, **saved), "here", 0)


def test_a_restored_state_is_saved_as_the_same_bits(tmp_path: Path) -> None:
    state, restored = make_state(tmp_path), make_state(tmp_path)
    learn(state)
    restored.restore(loaded_from(saved_by(state), state.sequences_seen))
    assert restored.sequences_seen == state.sequences_seen == 520
    assert differences(saved_by(restored), saved_by(state)) == []
    assert saved_by(state)["reading"].keys() == {"duplicates", "bad_records_ago"}


def test_parts_that_are_younger_than_the_checkpoint_begin_with_nothing(tmp_path: Path) -> None:
    state, restored = make_state(tmp_path), make_state(tmp_path)
    learn(state)
    saved = saved_by(state)
    del saved["progressive"]["drift"], saved["progressive"]["history"]
    restored.restore(loaded_from(saved | {"reading": {}}, 520))
    assert restored.history.curve(10)["sequences"] == []
    assert restored.progressive.scores() == state.progressive.scores()


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("model", "labels", None),
        ("progressive", "lifetime", np.zeros(7)),
        ("progressive", "history", {"totals": None}),
        ("reading", "bad_records_ago", np.array([-1000])),
    ],
)
def test_a_malformed_state_is_refused_in_one_line(tmp_path: Path, section: str, key: str, value: Any) -> None:
    saved = saved_by(make_state(tmp_path))
    saved[section][key] = value
    with pytest.raises(CheckpointError, match="here: the checksum is right, but the state is malformed"):
        make_state(tmp_path).restore(loaded_from(saved, 0))
