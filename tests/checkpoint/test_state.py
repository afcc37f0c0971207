import io

import pytest

from streamlearn.checkpoint.codec import decode, encode, read_header
from streamlearn.checkpoint.segment import Segment
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.errors import CheckpointError
from tests.checkpoint.build import assert_same_checkpoint, make_checkpoint


def test_a_checkpoint_comes_back_through_its_bytes():
    positions = {TopicPartition("b", 0): Position(5), TopicPartition("a", 1): Position(8, 7, 6, 5)}
    wanted = make_checkpoint(4, positions=positions)
    got = Checkpoint.from_state(decode(b"".join(encode(wanted.to_state()))))
    assert got.positions == positions
    assert got.identity == StreamIdentity("cluster", {"orders": "topic-id"})
    assert_same_checkpoint(got, wanted)


def test_a_header_gives_all_fields_without_the_arrays():
    data = b"".join(encode(make_checkpoint(4).to_state()))
    checkpoint = Checkpoint.from_header(read_header(io.BytesIO(data)))
    assert (checkpoint.seq, checkpoint.format_version) == (4, 1)
    assert isinstance(checkpoint.model["learner"]["weights"], Segment)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("seq", True, "field seq is bool, wanted int"),
        ("created_unix", 1, "field created_unix is int, wanted float"),
        ("model", None, "field model is NoneType, wanted dict"),
        ("identity", {}, "field cluster_id"),
        ("identity", {"cluster_id": "", "topic_ids": {"t": 1}}, "field t is int, wanted str"),
        ("positions", [["t", 0, 1, 0, 0]], "position"),
        ("positions", [["t", 0, 1, 0, 0, 1.5]], "position"),
        ("positions", [None], "position None"),
    ],
)
def test_a_field_of_another_type_is_refused(field, value, message):
    with pytest.raises(CheckpointError, match=message):
        Checkpoint.from_state(make_checkpoint().to_state() | {field: value})


def test_a_missing_field_is_refused():
    state = make_checkpoint().to_state()
    del state["config_digest"]
    with pytest.raises(CheckpointError, match="field config_digest is NoneType, wanted str"):
        Checkpoint.from_state(state)
