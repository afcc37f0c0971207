"""`check --live` tells what `run` would refuse to continue, for the same reason, with the same exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamlearn.app.check import check
from streamlearn.config.load import load
from streamlearn.data import Position, StreamIdentity, TopicPartition
from streamlearn.stream.kafka.probe import Finding
from tests.cli.command import save_state
from tests.conftest import Broker
from tests.kafka.topics import create, produce
from tests.sequences import make_examples, to_json, write_config

pytestmark = pytest.mark.apache


@pytest.fixture
def config(tmp_path: Path, apache_kafka: Broker, topic: str) -> Path:
    """A configuration whose topic holds ten records."""
    create(apache_kafka, topic)
    produce(apache_kafka, TopicPartition(topic, 0), [(None, to_json(each), []) for each in make_examples(10)])
    return write_config(
        tmp_path / "config.yaml",
        kafka=apache_kafka.client,
        source={"topics": [topic]},
        checkpoint={"directory": str(tmp_path / "state")},
    )


def save(config: Path, next_offset: int = 10, **identity: Any) -> None:
    settings = load(config)
    at = {TopicPartition(settings.source.topics[0], 0): Position(next_offset)}
    directory = Path(settings.checkpoint.directory)
    save_state(config, make_examples(10), directory, positions=at, identity=StreamIdentity(**identity))


def found(config: Path, *overrides: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in check(config, overrides, True, 10.0)}


def test_of_a_state_that_fits_it_is_said_where_the_stream_continues(config: Path, topic: str) -> None:
    save(config)
    findings = found(config)
    assert all(finding.ok for finding in findings.values())
    assert findings["positions"].message == f"the stream continues at {topic}[0]@10"


def test_another_topic_of_the_same_name_is_a_problem(config: Path, topic: str) -> None:
    save(config, topic_ids={topic: "11111111-1111-1111-1111-111111111111"})
    problem = found(config)["positions"]
    assert (problem.exit_code, problem.ok) == (65, False)
    assert "was deleted and created again" in problem.message


def test_a_position_that_the_topic_does_not_reach_is_a_problem(config: Path) -> None:
    save(config, next_offset=11)
    problem = found(config)["positions"]
    assert problem.exit_code == 65
    assert "the log ends at 10" in problem.message


def test_another_model_a_changed_key_and_a_small_table_are_problems(config: Path) -> None:
    save(config)
    for override, part in (
        ("model=other", "belongs to the model 'test'"),
        ("learner.kind=sgd", "other values of learner."),
        ("features.max_features=9", "features.max_features is 9, wanted "),
    ):
        problem = found(config, override)["checkpoint"]
        assert problem.exit_code == 78
        assert part in problem.message
    assert found(config, "features.max_features=4000")["checkpoint"].ok


def test_a_missing_topic_has_the_exit_code_of_run(config: Path, topic: str) -> None:
    assert found(config, f"source.topics=[{topic}x]")[f"topic {topic}x"].exit_code == 65


def test_errors_of_templates_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "t.template").write_text("U00:%x[0,nope]\n")
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"features": {"columns": ["w"], "template_file": "t.template"}}))
    [finding] = check(config, [], False, 1.0)
    assert finding.message.startswith(f"{tmp_path}/t.template, line 1: no column 'nope'")
