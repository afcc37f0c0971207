import pytest

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.check import check
from streamlearn.app.drift_watch import build_watch
from streamlearn.config.load import load
from streamlearn.errors import ConfigError
from tests.sequences import write_config

POSSIBLE = {
    "perceptron": {"reset_average"},
    "adf": {"rewarm"},
    "sgd": {"rewarm"},
    "adagrad": set(),
}


def build(tmp_path, kind, actions, **learner):
    sections = {"learner": {"kind": kind, **learner}, "drift": {"actions": actions}}
    config = load(write_config(tmp_path / "config.yaml", **sections))
    return build_watch(config, build_tagger(config))


@pytest.mark.parametrize("kind", POSSIBLE)
@pytest.mark.parametrize("action", ["rewarm", "reset_average"])
@pytest.mark.parametrize("replay_tokens", [0, 100])
def test_only_what_a_learner_can_do_may_be_asked_of_it(tmp_path, kind, action, replay_tokens):
    if action in POSSIBLE[kind]:
        assert build(tmp_path, kind, [action], replay_tokens=replay_tokens).stops(2000)
    else:
        with pytest.raises(ConfigError, match=f"drift.actions: {kind} with these settings cannot {action}"):
            build(tmp_path, kind, [action], replay_tokens=replay_tokens)


def test_a_snapshot_and_no_action_are_always_possible(tmp_path):
    for actions in (["snapshot"], []):
        assert build(tmp_path, "adagrad", actions).stops(2000) == []


def test_without_an_average_there_is_none_to_begin_anew(tmp_path):
    with pytest.raises(ConfigError, match="cannot reset_average; it can snapshot"):
        build(tmp_path, "perceptron", ["reset_average"], average="none")


def test_check_says_so_before_anything_runs(tmp_path):
    path = write_config(tmp_path / "config.yaml", drift={"actions": ["rewarm"]})
    [finding] = check(path, [], False, 1.0)
    assert not finding.ok
    assert "drift.actions: perceptron with these settings cannot rewarm" in finding.message
