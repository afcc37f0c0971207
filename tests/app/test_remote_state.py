"""The whole daemon with its state in S3: the same weights as from files, and one owner at a time."""

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from streamlearn.app.build_tagger import warm_up
from streamlearn.app.check import check
from streamlearn.app.checkpoints import verified
from streamlearn.app.dead_letter_sink import build_bad_record_sink, require_places
from streamlearn.app.deadletters import Replayer
from streamlearn.app.evaluate import Evaluation
from streamlearn.checkpoint.location import open_checkpoint
from streamlearn.config.load import load
from streamlearn.data import Example
from streamlearn.errors import CheckpointError, ConfigError
from tests.app.process import Run, configure, fill, metric
from tests.cli.command import save_state, streamlearn
from tests.conftest import Broker
from tests.kafka.topics import create
from tests.s3 import S3Server
from tests.sequences import make_examples, write_config, write_jsonl
from tests.states import differences
from tests.waiting import until

OFTEN = {"every_records": 100, "every_seconds": 0.2}


def unlike_files(folder: Path, config: Path, examples: list[Example], state: str) -> list[str]:
    """Compare a state with what is learned from files."""
    evaluation = Evaluation(load(config), on_rejected=pytest.fail)
    evaluation.train([str(write_jsonl(folder / "train.jsonl.gz", examples))])
    return differences(open_checkpoint(state).checkpoint.model, evaluation.tagger.state())


def saved(state: str) -> int:
    """Return how many sequences the newest checkpoint has seen, -1 without one."""
    try:
        return open_checkpoint(state).checkpoint.sequences_seen
    except CheckpointError:
        return -1


@pytest.mark.apache
def test_killed_and_taken_over_it_ends_with_the_weights_of_an_uninterrupted_run(
    folder: Path, apache_kafka: Broker, topic: str, s3: str
) -> None:
    examples = make_examples(2000, seed=1)
    create(apache_kafka, topic)
    config, _ = configure(folder, apache_kafka, topic, directory=s3, **OFTEN)
    warm_up(load(config), print)

    fill(apache_kafka, topic, examples[:600])
    killed = Run(config)
    until(lambda: saved(s3) > 0 or killed.process.poll() is not None, 60)
    assert killed.end(signal.SIGKILL) == -signal.SIGKILL

    first = Run(config)
    until(lambda: saved(s3) == 600, 60)
    # The same state, another machine: it has its own port.
    (folder / "other").mkdir()
    other, url = configure(folder / "other", apache_kafka, topic, directory=s3, **OFTEN)
    second = Run(other)
    until(lambda: metric(url, "streamlearn_sequences_seen") == 600, 60)
    fill(apache_kafka, topic, examples[600:])
    assert first.wait() == 75
    assert "was taken over by pid" in (folder / "log").read_text()
    until(lambda: metric(url, "streamlearn_sequences_seen") == len(examples), 60)
    assert second.end(signal.SIGTERM) == 0

    assert saved(s3) == len(examples)
    assert unlike_files(folder, config, examples, s3) == []
    assert not (folder / "state").exists()


@pytest.mark.apache
def test_while_s3_does_not_answer_it_learns_and_then_saves(
    folder: Path, apache_kafka: Broker, topic: str, s3: str, s3_server: S3Server
) -> None:
    create(apache_kafka, topic)
    fill(apache_kafka, topic, make_examples(200))
    config, url = configure(folder, apache_kafka, topic, directory=s3, **OFTEN)
    failed = 'streamlearn_checkpoints_total{outcome="failed"}'
    run = Run(config)
    until(lambda: saved(s3) == 200, 60)
    s3_server.stop()
    try:
        fill(apache_kafka, topic, make_examples(200, seed=1))
        until(lambda: metric(url, failed) > 0, 60)
        assert metric(url, "streamlearn_sequences_seen") == 400
    finally:
        s3_server.start()
    fill(apache_kafka, topic, make_examples(200, seed=2))
    until(lambda: saved(s3) == 600, 60)
    assert run.end(signal.SIGTERM) == 0
    log = (folder / "log").read_text()
    assert "checkpoint_failed" in log
    assert "secret" not in log


def test_the_commands_take_the_url(tmp_path: Path, s3: str) -> None:
    config = write_config(tmp_path / "config.yaml")
    for seq in (3, 4):
        save_state(config, make_examples(20), s3, seq=seq)
    done = streamlearn("checkpoints", "rollback", s3, 3)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"       3  ")
    assert [(row["seq"], row["ok"]) for row in verified(s3)] == [(3, True)]
    done = streamlearn("inspect", open_checkpoint(s3).where, "--json")
    assert b'"seq": 3' in done.stdout
    done = streamlearn("predict", s3, write_jsonl(tmp_path / "new.jsonl.gz", make_examples(5)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 5
    done = streamlearn("checkpoints", "list", f"{s3}-nothing")
    assert (done.returncode, done.stdout) == (74, b"")
    assert done.stderr.decode() == f"streamlearn: {s3}-nothing: no checkpoint in this state\n"


def test_bad_records_and_what_was_replayed_of_them_need_a_local_place(tmp_path: Path) -> None:
    sections: dict[str, Any] = {"checkpoint": {"directory": "s3://bucket/ner"}}
    topic_only = load(write_config(tmp_path / "1.yaml", dead_letters=LETTERS | {"topic": "dead"}, **sections))
    with pytest.raises(ConfigError, match=r"dead_letters.file: required.*a file next to it"):
        Replayer(topic_only, again=False)
    file = tmp_path / "missing" / "dead.jsonl"
    config = load(write_config(tmp_path / "2.yaml", dead_letters=LETTERS | {"file": str(file)}, **sections))
    with pytest.raises(ConfigError, match=r"dead_letters.file: .*missing: no such directory"):
        require_places(config)
    file.parent.mkdir()
    require_places(config)
    with ExitStack() as stack:
        build_bad_record_sink(config, stack, bool, lambda _: None)


LETTERS: dict[str, Any] = {"policy": "dead_letter"}


@pytest.mark.parametrize(
    ("directory", "letters", "problem"),
    [
        ("s3://bucket/ner", {"policy": "skip"}, ""),
        ("s3://bucket/ner", LETTERS | {"topic": "dead"}, ""),
        ("s3://bucket/ner", LETTERS | {"file": "/tmp/dead.jsonl"}, ""),
        ("s3://bucket/ner", LETTERS, "checkpoint.directory is a URL, so dead_letters.file must be set"),
        (
            "s3://bucket/ner",
            LETTERS | {"topic": "dead", "on_unavailable": "spool"},
            "dead_letters.file must be set",
        ),
        ("ftp://host/ner", {}, "ftp://host/ner: ftp:// has no conditional writes"),
    ],
)
def test_check_says_what_a_remote_state_lacks(
    tmp_path: Path, directory: str, letters: dict[str, Any], problem: str
) -> None:
    config = write_config(tmp_path / "config.yaml", checkpoint={"directory": directory}, dead_letters=letters)
    finding, *_ = check(config, [], False, 1.0)
    assert (finding.ok, finding.exit_code) == ((False, 78) if problem else (True, 0))
    assert problem in finding.message
