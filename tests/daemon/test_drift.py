"""A world that changes under the loop: what is decided and done is a part of the state."""

from pathlib import Path

import pytest

from streamlearn.data import Example
from streamlearn.events import Drift, Learned
from tests.daemon.rig import Rig
from tests.sequences import make_examples, to_json
from tests.states import differences
from tests.stream.memory import MemorySource

CHANGE, COUNT = 1500, 3000
WATCHED = {"drift": {"quantum": 10, "actions": ["reset_average"], "detectors": ["adwin", "page_hinkley"]}}


def changing() -> MemorySource:
    source = MemorySource(max_poll_records=170)
    other = {"O": "B-X", "B-X": "I-X", "I-X": "B-Y", "B-Y": "O"}
    for number, example in enumerate(make_examples(COUNT)):
        if number >= CHANGE:
            example = Example(example.columns, [other[y] for y in example.labels or []], id=example.id)
        source.append(to_json(example))
    return source


def drifts(rig: Rig) -> list[Drift]:
    return [drift for learned in rig.of_type(Learned) for drift in learned.drifts]


def test_a_change_of_the_world_is_told_and_begins_a_new_average(tmp_path: Path) -> None:
    rig = Rig(tmp_path, changing(), **WATCHED)
    rig.run(20)
    found = drifts(rig)
    assert "error" in {drift.signal for drift in found}
    assert all(CHANGE < drift.sequence < CHANGE + 400 for drift in found)
    # Sequences in the average: those since the next multiple of 500.
    assert rig.learning.tagger.state()["learner"]["count"] == 1000


@pytest.mark.parametrize("turns", [5, 9, 10, 11, 15])
def test_a_crash_around_the_change_gives_the_same_bits(tmp_path: Path, turns: int) -> None:
    (tmp_path / "whole").mkdir()
    whole = Rig(tmp_path / "whole", changing(), **WATCHED)
    whole.run(20)
    first = Rig(tmp_path, changing(), every_records=100, **WATCHED)
    first.loop.save()
    for _ in range(turns):
        first.loop.turn()
    first.crash()
    resumed = Rig(tmp_path, changing(), **WATCHED)
    assert 0 < resumed.learning.sequences_seen < COUNT
    resumed.run(20)
    assert differences(resumed.state(), whole.state()) == []
