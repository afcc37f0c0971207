import json

import pytest

from streamlearn.config.learned_part import changes, differences, digest, from_learned, learned_part
from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError

VALUES = {
    "model": "np",
    "kafka": {"bootstrap_servers": "b:9092", "sasl_plain_password": "hunter2", "ssl_password": "hunter3"},
    "features": {"columns": ["w", "pos"], "templates": "U00:%x[0,w]\nB\n", "max_features": 100},
    "labels": {"map": {"B-NP": "B"}, "other": "O"},
    "learner": {"kind": "perceptron", "average": "all"},
}


def changed(dotted, value):
    """Return the learned part with one key changed."""
    section, _, key = dotted.partition(".")
    new = {key: value} if key else value
    values = VALUES | {section: {**VALUES.get(section, {}), **new} if key else new}
    return learned_part(Config.model_validate(values))


LEARNED = learned_part(Config.model_validate(VALUES))


def test_no_secret_and_no_address_is_in_the_learned_part():
    assert LEARNED.keys() == {"model", "features", "labels", "learner"}
    text = json.dumps(LEARNED)
    assert "hunter" not in text
    assert "9092" not in text


def test_the_digest_of_a_configuration_never_changes():
    # A daemon refuses checkpoints of another digest's configuration: a change here breaks every upgrade.
    assert digest(LEARNED) == "6ccc5f19241298ccf0e2e17384b1d069"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("features.columns", ["w", "tag"]),
        ("features.templates", "U00:%x[0,w]\n"),
        ("labels.map", {}),
        ("labels.map", {"B-NP": "X"}),
        ("labels.other", None),
        ("learner.average", "none"),
    ],
)
def test_what_weights_depend_on_may_not_change(key, value):
    other = changed(key, value)
    assert digest(other) != digest(LEARNED)
    assert differences(LEARNED, other) == differences(other, LEARNED) == [key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "other"),
        ("features.max_features", 200),
        ("features.max_edge_features", 200),
        ("features.names", 0),
        ("features.cache", 5),
        ("labels.max", 9),
        ("labels.known", ["O"]),
        ("labels.constrain", "bio"),
        ("kafka.bootstrap_servers", "c:9092"),
        ("checkpoint.every_seconds", 5),
        ("source.topics", ["other"]),
    ],
)
def test_sizes_and_addresses_may_change_under_learned_weights(key, value):
    other = changed(key, value)
    assert digest(other) == digest(LEARNED)
    assert differences(LEARNED, other) == []


def test_the_digest_does_not_depend_on_the_order_of_keys():
    shuffled = {name: dict(reversed(part.items())) if isinstance(part, dict) else part
                for name, part in reversed(LEARNED.items())}  # fmt: skip
    assert digest(shuffled) == digest(LEARNED)


def test_a_key_that_only_one_has_is_a_difference():
    other = json.loads(json.dumps(LEARNED))
    del other["learner"]["average"]
    assert differences(LEARNED, other) == ["learner.average"]


def test_the_learned_part_is_plain_data_that_gives_the_same_configuration_back():
    again = from_learned(json.loads(json.dumps(LEARNED)))
    assert learned_part(again) == LEARNED
    assert again.features.columns == ["w", "pos"]


def test_a_learned_part_of_another_version_is_refused():
    with pytest.raises(ConfigError, match="configuration in the checkpoint: "):
        from_learned(LEARNED | {"learner": {"kind": "perceptron", "unknown": 1}})


def test_keys_that_are_younger_than_a_checkpoint_count_with_their_defaults():
    saved = json.loads(json.dumps(LEARNED))
    del saved["learner"]["average"], saved["labels"]["max"]
    assert changes(saved, Config.model_validate(VALUES)) == []
    other = VALUES | {"learner": {"kind": "perceptron", "average": "none"}}
    assert changes(saved, Config.model_validate(other)) == ["learner.average"]
