from datetime import UTC, datetime
from typing import get_args

import pytest
from pydantic import BaseModel, ValidationError

from streamlearn.config.schema import Config


def leaves(section, prefix=""):
    """Return (dotted key, field) of every key below a section, of all kinds where there are several."""
    for name, field in section.model_fields.items():
        annotations = [field.annotation, *get_args(field.annotation)]
        sections = [a for a in annotations if isinstance(a, type) and issubclass(a, BaseModel)]
        if sections:
            for each in sections:
                yield from leaves(each, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def sections_of(section):
    yield section
    for field in section.model_fields.values():
        for annotation in [field.annotation, *get_args(field.annotation)]:
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                yield from sections_of(annotation)


KEYS = dict(leaves(Config))


def test_keys_are_found_at_every_level():
    assert {"model", "kafka", "source.topics", "learner.kind", "learner.average", "log.level"} <= KEYS.keys()


def kinds_of(field):
    return {field.annotation, *get_args(field.annotation)}


NUMBERS = {
    f"{section.__name__}.{name}": (section, name, 1 << 62 if int in kinds_of(field) else float("inf"))
    for section in sections_of(Config)
    for name, field in section.model_fields.items()
    if {int, float} & kinds_of(field)
}


@pytest.mark.parametrize(("section", "name", "value"), NUMBERS.values(), ids=NUMBERS)
def test_no_number_is_larger_than_what_can_be_counted_or_reserved(section, name, value):
    with pytest.raises(ValidationError, match=r"less than or equal to|finite number"):
        section.model_validate({name: value})


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_says_what_it_means_in_one_sentence(key):
    if key.endswith(".kind"):
        return
    description = KEYS[key].description
    assert description
    assert description.endswith(".") or "default:" in description
    assert len(description) < 110


@pytest.mark.parametrize("section", list(dict.fromkeys(sections_of(Config))), ids=lambda s: s.__name__)
def test_every_section_says_what_it_is_for_and_takes_no_other_keys(section):
    assert section.__doc__
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        section.model_validate({"no_such_key": 1})


def test_every_key_has_a_default_so_that_an_empty_file_is_a_configuration():
    config = Config()
    assert config.kafka == {"bootstrap_servers": "localhost:9092"}
    assert config.learner.kind == "perceptron"


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Config().features.names = 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": "a/b"}, "String should match pattern"),
        ({"source": {"topics": []}}, "at least 1 item"),
        ({"source": {"topics": ["a", "a"]}}, "'a' occurs twice"),
        ({"source": {"partitions": [-1]}}, "greater than or equal to 0"),
        ({"source": {"start": "middle"}}, "source.start"),
        ({"source": {"max_poll_records": 0}}, "greater than or equal to 1"),
        ({"features": {"columns": ["w", "w"]}}, "'w' occurs twice"),
        ({"features": {"templates": "U:%x[0,0]"}}, "list their names in features.columns"),
        ({"features": {"max_features": 0}}, "greater than or equal to 1"),
        ({"features": {"cache": 0}}, "greater than or equal to 1"),
        ({"features": {"names": -1}}, "greater than or equal to 0"),
        ({"labels": {"known": ["O", "O"]}}, "'O' occurs twice"),
        ({"checkpoint": {"keep": 2}}, "greater than or equal to 3"),
        ({"checkpoint": {"every_seconds": float("nan")}}, "finite number"),
        ({"metrics": {"port": 65536}}, "less than or equal to 65535"),
        ({"log": {"level": "loud"}}, "log.level"),
    ],
)
def test_values_out_of_range_are_refused(values, message):
    with pytest.raises(ValidationError) as refused:
        Config.model_validate(values)
    assert message in str(refused.value)


def test_a_start_may_be_a_time():
    config = Config.model_validate({"source": {"start": "2024-05-01T12:00:00Z"}})
    assert config.source.start == datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ({}, (None, None, "none")),
        ({"data": "iob1"}, ("iob1", "bio", "bio")),
        ({"model": "iobes"}, ("auto", "iobes", "iobes")),
        ({"data": "bio", "model": "iobes"}, ("bio", "iobes", "iobes")),
    ],
)
def test_one_key_of_a_conversion_is_enough_and_the_constraint_follows(scheme, expected):
    labels = Config.model_validate({"labels": {"scheme": scheme}}).labels
    assert (labels.scheme.data, labels.scheme.model, labels.constraint) == expected
    assert Config.model_validate({"labels": labels.model_dump()}).labels == labels


def test_a_constraint_that_the_model_cannot_meet_is_refused():
    values = {"labels": {"scheme": {"data": "auto"}, "constrain": "iobes"}}
    with pytest.raises(ValueError, match="the model learns bio: leave out"):
        Config.model_validate(values)
    free = {"labels": {"scheme": {"data": "auto"}, "constrain": "none"}}
    assert Config.model_validate(free).labels.constraint == "none"
