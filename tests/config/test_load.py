import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.config.learned_part import from_learned, learned_part
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in [name for name in os.environ if name.startswith("STREAMLEARN_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def write(tmp_path):
    def write(text, name="c.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refusal(path, overrides=()):
    with pytest.raises(ConfigError) as refused:
        load(path, overrides)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_file_with_nothing_in_it_gives_the_defaults(write):
    assert load(write("")) == load(write("# nothing\n")) == Config()


def test_the_environment_wins_over_the_file_and_set_wins_over_both(write, monkeypatch):
    path = write("model: file\nlabels: {other: file, max: 7}\nlearner: {average: all}\n")
    assert load(path).model == "file"
    monkeypatch.setenv("STREAMLEARN_MODEL", "environment")
    monkeypatch.setenv("STREAMLEARN_LABELS__OTHER", "environment")
    monkeypatch.setenv("STREAMLEARN_LEARNER__AVERAGE", "none")
    config = load(path)
    assert (config.model, config.labels.other, config.learner.average) == (
        "environment",
        "environment",
        "none",
    )
    config = load(path, ["model=set", "labels.other=set", "labels.map.X=Y"])
    assert (config.model, config.labels.other, config.labels.map) == ("set", "set", {"X": "Y"})
    # What a layer does not mention stays.
    assert (config.labels.max, config.learner.average) == (7, "none")


def test_later_set_options_win(write):
    path = write("")
    assert load(path, ["labels.max=3", "labels.max=4"]).labels.max == 4
    assert load(path, ["labels=null", "labels.max=4"]).labels.max == 4
    assert load(path, ["labels.max=4", "labels={other: O}"]).labels.max == 1024
    assert load(path, ["labels={max: 4}", "labels.other=O"]).labels.max == 4


def test_set_takes_yaml(write):
    config = load(write(""), ["source.topics=[a, b]", "kafka.retries=3", "checkpoint.every_records=null"])
    assert config.source.topics == ["a", "b"]
    assert config.kafka["retries"] == 3


def test_the_environment_takes_yaml_as_set_does(write, monkeypatch):
    monkeypatch.setenv("STREAMLEARN_SOURCE__TOPICS", "[a, b]")
    monkeypatch.setenv("STREAMLEARN_LABELS__MAP", '{"B-NP": B}')
    monkeypatch.setenv("STREAMLEARN_KAFKA__RETRIES", "3")
    config = load(write(""))
    assert (config.source.topics, config.labels.map) == (["a", "b"], {"B-NP": "B"})
    assert config.kafka["retries"] == 3
    monkeypatch.setenv("STREAMLEARN_SOURCE__TOPICS", "[a")
    assert refusal(write("")).startswith("STREAMLEARN_SOURCE__TOPICS: ")


@pytest.mark.parametrize("secret", ["0123", "a #b", "#1", "{x", "true", "a: b"])
def test_passwords_and_user_names_in_the_environment_are_taken_as_they_are(write, monkeypatch, secret):
    monkeypatch.setenv("STREAMLEARN_KAFKA__SASL_PLAIN_PASSWORD", secret)
    monkeypatch.setenv("STREAMLEARN_KAFKA__SASL_PLAIN_USERNAME", secret)
    kafka = load(write("")).kafka
    assert (kafka["sasl_plain_password"], kafka["sasl_plain_username"]) == (secret, secret)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "STREAMLEARN_LEARNR__AVERAGE",
            "unknown section 'learnr'; did you mean STREAMLEARN_LEARNER__AVERAGE?",
        ),
        ("STREAMLEARN_MODLE", "unknown section 'modle'; did you mean STREAMLEARN_MODEL?"),
        (
            "STREAMLEARN_METRICS_PORT",
            "unknown section 'metrics_port'; did you mean STREAMLEARN_METRICS__PORT?",
        ),
        ("STREAMLEARN_XYZ", "unknown section 'xyz'; known sections: model, source,"),
    ],
)
def test_a_variable_of_no_section_is_refused_with_the_nearest(write, monkeypatch, name, hint):
    monkeypatch.setenv(name, "1")
    assert refusal(write("")).startswith(f"{name}: {hint}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STREAMLEARN_TEST_BROKER", "localhost:1"),
        # Kubernetes links every service of a namespace into every pod.
        ("STREAMLEARN_SERVICE_HOST", "10.0.0.1"),
        ("STREAMLEARN_SERVICE_PORT_METRICS", "9464"),
        ("STREAMLEARN_PORT", "tcp://10.0.0.1:9464"),
        ("STREAMLEARN_NP_PORT_9464_TCP_ADDR", "10.0.0.1"),
        ("STREAMLEARN_NP_SERVICE_HOST", "10.0.0.1"),
    ],
)
def test_variables_of_others_are_left_alone(write, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert load(write("")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learnr: {}", "unknown key 'learnr'; did you mean 'learner'?"),
        ("learner: {avrage: true}", "unknown key 'learner.avrage'; did you mean 'average'?"),
        ("source: {topic: a}", "unknown key 'source.topic'; did you mean 'topics'?"),
        (
            "checkpoint: {every_second: 3}",
            "unknown key 'checkpoint.every_second'; did you mean 'every_seconds'?",
        ),
        (
            "labels: {zzz: 1}",
            "unknown key 'labels.zzz'; known keys: known, map, other, max, scheme, constrain",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_name(write, text, message):
    path = write(text)
    assert refusal(path) == f"{path}: {message}"


def test_an_unknown_key_from_the_environment_or_set_is_refused_too(write, monkeypatch):
    assert "unknown key 'learner.avrage'" in refusal(write(""), ["learner.avrage=1"])
    monkeypatch.setenv("STREAMLEARN_LEARNER__AVRAGE", "1")
    assert "unknown key 'learner.avrage'" in refusal(write(""))


def test_all_problems_of_a_file_are_reported_together(write):
    message = refusal(write("learner: {avrage: 1}\nmetrics: {port: x}\nlog: {level: loud}\n"))
    for part in (
        "learner.avrage",
        "metrics.port: got 'x', wanted a whole number",
        "log.level",
        "'debug', 'info'",
    ):
        assert part in message
    with pytest.raises(ConfigError) as refused:
        load(write("learner: {avrage: 1}\nmetrics: {port: x}\nlog: {level: loud}\n"))
    assert len(refused.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: a\nmodel: b\n", "key 'model' occurs twice"),
        ("labels:\n  map: {A: x, A: y}\n", "key 'A' occurs twice"),
        ("{[a]: 1}", "unhashable key"),
        ("- model", "got list, wanted a mapping of sections"),
        ("model", "got str, wanted a mapping of sections"),
        ("model: [a", "expected ',' or ']'"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("1: 2", "got the key 1, wanted text"),
        ("labels: null", "labels: "),
        ("features: 3", "features: "),
        ("kafka: {1: 2}", "kafka: got the key 1, wanted text"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(write, text, message):
    path = write(text)
    refused = refusal(path)
    assert refused.startswith(f"{path}: ")
    assert message in refused


@pytest.mark.parametrize("assignment", ["model", "=a", "", "model:a"])
def test_set_without_a_key_and_a_value_is_refused(write, assignment):
    assert refusal(write(""), [assignment]).startswith(f"--set {assignment}: wanted dotted.key=value")


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("source: {topics: [a, NO]}", "source.topics.1: got False, wanted text;"),
        ("source: {topics: off}", "source.topics: got False, wanted a list;"),
        ("source: {start: ON}", "source.start: got True, wanted 'earliest' or 'latest', or a time in ISO"),
        ("labels: {known: [O, yes]}", "labels.known.1: got True, wanted text;"),
        ("labels: {map: {NO: x}}", "labels.map: got the key False, wanted text;"),
        ("labels: {map: {x: No}}", "labels.map.x: got False, wanted text;"),
        ("learner: {kind: no}", "learner.kind: got 'False', wanted one of"),
        ("NO: 1", "got the key False, wanted text;"),
    ],
)
def test_words_that_yaml_reads_as_true_or_false_get_a_hint(write, text, begin):
    with pytest.raises(ConfigError) as error:
        load(write(text))
    [problem] = error.value.problems
    assert f".yaml: {begin}" in problem
    assert problem.endswith("; YAML reads NO, off, yes and on as false and true: put the word in quotes")


WRONG = [
    "a", "[a]", "{a: 1}", "{1: a}", "1", "-1", "1.5", "1e999", ".nan", "NO", "~", "2020-01-01",
    "[[]]", "[~]", "''",
]  # fmt: skip


@pytest.mark.parametrize("section", Config.model_fields)
def test_problems_are_never_in_the_words_of_a_library(write, section):
    fields = getattr(type(getattr(Config(), section)), "model_fields", {})
    texts = [f"{section}: {value}" for value in WRONG]
    texts += [f"{section}: {{{key}: {value}}}" for key in fields for value in WRONG]
    found = []
    for text in texts:
        try:
            load(write(text))
        except ConfigError as error:
            found.append(str(error))
    words = re.compile(r"Value error|Input should|\bvalid |required|pydantic")
    assert [problem for problem in found if words.search(problem)] == []
    assert len(found) > len(WRONG) / 2


def test_yaml_anchors_and_merge_keys_work(write):
    text = "labels: &l {other: O, max: 5}\nfeatures: {columns: [w]}\n"
    assert load(write(text + "kafka: {<<: *l, client_id: me}")).kafka == {
        "other": "O",
        "max": 5,
        "client_id": "me",
    }


def test_files_that_cannot_be_read_are_refused(tmp_path):
    assert (
        refusal(tmp_path / "none.yaml") == f"{tmp_path}/none.yaml: cannot be read: No such file or directory"
    )
    assert refusal(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    (tmp_path / "latin.yaml").write_bytes(b"model: \xe9")
    assert "can't decode byte 0xe9" in refusal(tmp_path / "latin.yaml")


def test_a_byte_order_mark_is_no_part_of_a_file(write):
    write("\ufeffU:%x[0,0]\n", "t.template")
    config = load(write("\ufefffeatures: {columns: [w], template_file: t.template}"))
    assert config.features.templates == "U:%x[0,0]\n"


def test_a_template_file_stands_beside_the_configuration(write, tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    write("U:%x[0,0]\nB\n", "deep/t.template")
    path = write("features: {columns: [w], template_file: t.template}", "deep/c.yaml")
    monkeypatch.chdir(tmp_path)
    for each in (path, path.relative_to(tmp_path)):
        config = load(each)
        assert config.features.templates == "U:%x[0,0]\nB\n"
        assert (tmp_path / config.features.template_file).exists()
    absolute = load(write(f"features: {{columns: [w], template_file: {tmp_path}/deep/t.template}}"))
    # The text is all that counts: a checkpoint is read where the file is not.
    assert learned_part(absolute) == learned_part(config)
    assert from_learned(learned_part(config)).features.template_file is None


def test_a_missing_template_file_and_two_sources_of_templates_are_refused(write):
    path = write("features: {columns: [w], template_file: none}")
    assert refusal(path).startswith(f"features.template_file: {path.parent}/none: ")
    assert "not both" in refusal(write("features: {columns: [w], templates: B, template_file: none}"))


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_a_configuration(path):
    assert load(path).model == path.stem


texts = st.text(alphabet="model: labels{}[]&*<!'\"\n-1,#|>?\x00é", max_size=40)


@settings(deadline=None)
@given(text=texts, assignment=st.text(alphabet="model.labels=max{[,:1 ", max_size=12))
def test_any_text_is_a_configuration_or_a_refusal(write, text, assignment):
    for path, overrides in ((write(text), []), (write(""), [assignment])):
        with suppress(ConfigError):
            assert isinstance(load(path, overrides), Config)
