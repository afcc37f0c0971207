"""Records that a producer sent twice are learned once, across crashes too."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.daemon.duplicates import Duplicates, Window
from streamlearn.events import Duplicated, Learned, Rejected
from tests.daemon.rig import Rig
from tests.daemon.test_loop import ORDERS
from tests.sequences import make_examples, to_json
from tests.states import differences
from tests.stream.memory import MemorySource


@given(st.lists(st.integers(1, 12), max_size=60), st.integers(1, 6), st.integers(0, 5))
def test_a_window_knows_the_last_that_were_added(marks: list[int], size: int, back: int) -> None:
    window = Window(size, ahead=5)
    added: list[int] = []
    for mark in marks:
        assert (mark in window) == (mark in added[-size:])
        if mark not in window:
            window.add(mark)
            added.append(mark)
    then = max(0, len(added) - back)
    assert window.state(then).tolist() == added[:then][-size:]
    restored = Window(size, ahead=5)
    restored.restore(window.state(then))
    assert all((mark in restored) == (mark in added[:then][-size:]) for mark in range(1, 13))


def source(numbers: list[int], poll: int = 7) -> MemorySource:
    """Write these examples, whose ids and keys are their numbers."""
    examples = make_examples(40)
    made = MemorySource([ORDERS], max_poll_records=poll)
    for number in numbers:
        made.append(to_json(examples[number]), key=b"%d" % number)
    return made


SENT = [*range(10), 3, 9, *range(10, 25), 24, 12, 5, *range(25, 40), 39, 0]
FIELDS = pytest.mark.parametrize("field", ["id", "key"])


@FIELDS
def test_what_was_sent_twice_is_learned_once(tmp_path: Path, field: str) -> None:
    (tmp_path / "once").mkdir()
    once = Rig(tmp_path / "once", source(list(range(40))))
    once.run(10)
    rig = Rig(tmp_path, source(SENT), duplicates=Duplicates(field, 100, 50))  # type: ignore[arg-type]
    rig.run(12)
    assert sum(event.sequences for event in rig.of_type(Learned)) == 40
    assert sum(event.count for event in rig.of_type(Duplicated)) == len(SENT) - 40
    assert rig.source.committed[ORDERS].next_offset == len(SENT)
    assert differences(rig.learning.tagger.state(), once.learning.tagger.state()) == []


@FIELDS
@pytest.mark.parametrize("turns", [2, 3, 4, 5, 6])
def test_a_crash_forgets_none_of_it(tmp_path: Path, field: str, turns: int) -> None:
    (tmp_path / "whole").mkdir()
    whole = Rig(tmp_path / "whole", source(SENT), duplicates=Duplicates(field, 20, 50))  # type: ignore[arg-type]
    whole.run(12)
    first = Rig(tmp_path, source(SENT), every_records=7, duplicates=Duplicates(field, 20, 50))  # type: ignore[arg-type]
    first.loop.save()
    for _ in range(turns):
        first.loop.turn()
    first.crash()
    second = Rig(tmp_path, source(SENT), duplicates=Duplicates(field, 20, 50))  # type: ignore[arg-type]
    second.run(12)
    assert differences(second.state(), whole.state()) == []


def test_a_record_that_was_refused_may_come_again(tmp_path: Path) -> None:
    bad = {"columns": {"w": ["a"]}, "labels": ["O"], "id": "x"}
    good = bad | {"columns": {"w": ["a"], "pos": ["b"]}}
    made = MemorySource([ORDERS])
    for record in (bad, good, good):
        made.append(json.dumps(record).encode())
        made.append(to_json(make_examples(1)[0]))
    made._max_poll_records = 2
    rig = Rig(tmp_path, made, duplicates=Duplicates("id", 100, 50))
    rig.run(6)
    assert len(rig.of_type(Rejected)) == 1
    assert sum(event.sequences for event in rig.of_type(Learned)) == 2
    assert sum(event.count for event in rig.of_type(Duplicated)) == 3


def test_records_without_a_key_are_never_duplicates(tmp_path: Path) -> None:
    made = MemorySource([ORDERS])
    for _ in range(3):
        made.append(to_json(make_examples(1)[0]))
    rig = Rig(tmp_path, made, duplicates=Duplicates("key", 100, 50))
    rig.run(3)
    assert sum(event.sequences for event in rig.of_type(Learned)) == 3
