"""The report, written from a state that a small stream has learned."""

import re

import pytest

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.report import collect
from streamlearn.config.load import load
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.events import Drift
from streamlearn.report import figures, page
from tests.cli.command import save_state, streamlearn
from tests.sequences import make_examples, write_config
from tests.telemetry import examples


def state(tmp_path, **learner):
    """Learn, and save what was watched meanwhile."""
    config = write_config(tmp_path / "config.yaml", learner=learner)
    made, learning = make_examples(200), LearningState(build_tagger(load(config)))
    with Pipeline(learning) as pipeline:
        for first in range(0, 200, 20):
            pipeline.submit(learning.tagger.encode(made[first : first + 20]).batch, 0.0)
            learning.history(pipeline.settle())
    learning.history(examples.learned(drifts=[Drift(123, "error", "adwin", 0.1, 0.6)], gauges={}))
    return save_state(config, made, tmp_path / "state", progressive=learning.snapshot({}).progressive)


TITLES = [
    "Learning curve",
    "Loss",
    "Features",
    "Known features",
    "Learning rates of features",
    "Weight norm by learning rate",
    "Weight norm by order of first occurrence",
    "Recent scores by label",
    "Most frequent confusions",
    "Concept drift",
    "Features with the largest weights for B-X",
]
LEARNERS = [{"kind": "adf"}, {"kind": "adf", "replay_tokens": 50}, {"kind": "perceptron"}]


@pytest.mark.parametrize("learner", LEARNERS)
def test_it_tells_of_the_whole_stream(tmp_path, learner):
    facts = collect(str(state(tmp_path, **learner)))
    assert facts["curve"]["sequences"][-1] == 202
    assert facts["drifts"][0]["sequence"] == 123
    assert facts["features"]["capacity"] > facts["features"]["known"] > 50
    assert sum(score["support"] for score in facts["label_scores"].values()) > 50
    assert facts["confusions"]
    assert len(facts["rows"]) == len(facts["norms"]) > 50
    assert bool(facts["rates"]) == (learner["kind"] == "adf")
    assert len(facts["rates"]) == len(facts["rate_norms"])


def test_rates_are_those_of_features_that_were_seen(tmp_path):
    facts = collect(str(state(tmp_path, kind="adf", rate=0.25, window=20, keep_frequent=0.5)))
    assert max(facts["rates"]) <= 0.25
    assert min(facts["rates"]) < 0.1


def test_the_page_is_one_file_with_all_parts(tmp_path):
    facts = collect(str(state(tmp_path, kind="adf")))
    text = page.html(facts)
    for title in TITLES:
        assert f"<h2>{title}</h2>" in text
    assert text.count("<svg") == 6
    links = re.findall(r'(?:src|href)="(?!#|data:)([^"]*)"', text)
    assert links == []


def test_names_from_the_stream_are_never_markup(tmp_path):
    facts = collect(str(state(tmp_path, kind="perceptron")))
    evil = "<script>"
    facts |= {"model": evil, "confusions": [(evil, evil, 1)], "heaviest": {evil: [(evil, 1.0)]}}
    facts["label_scores"] = {evil: {"f1": 1.0, "precision": 1.0, "recall": 1.0, "support": 1}}
    assert evil not in page.html(facts)


def test_the_picture_is_a_picture(tmp_path):
    assert figures.png(collect(str(state(tmp_path, kind="perceptron")))).startswith(b"\x89PNG")


def test_a_state_without_history_has_a_report_too(tmp_path):
    config = write_config(tmp_path / "config.yaml")
    facts = collect(str(save_state(config, make_examples(20), tmp_path / "state")))
    assert facts["curve"]["sequences"] == []
    assert "<h2>Learning curve</h2>" not in page.html(facts)


def test_the_command_writes_what_the_name_asks_for(tmp_path):
    directory = state(tmp_path, kind="perceptron")
    output = tmp_path / "r.html"
    done = streamlearn("report", directory, "-o", output)
    assert done.returncode == 0, done.stderr
    assert output.read_text().startswith("<!doctype html>")
    assert streamlearn("report", directory, "-o", tmp_path / "r.pdf").returncode == 64
