"""The text of a first configuration: what is chosen for a file, each choice with its reason."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamlearn.choices import Scheme
from streamlearn.corpus.column_layout import CONLLU_NAMES
from streamlearn.corpus.survey import ColumnFacts, Survey
from streamlearn.learners.constraint import Constraint
from streamlearn.monitor.span_counts import LabelScheme
from streamlearn.samples.first_templates import first_templates

# IOBES first: what is valid in it is also valid in BIO.
_SCHEMES: tuple[Scheme, ...] = ("iobes", "bio")
_SCHEME_NAMES: dict[Scheme, str] = {"none": "tags", "bio": "BIO", "iobes": "IOBES, BMES or BILOU"}
_WORD_NAMES = ("w", "word", "words", "token", "tokens", "form", "text")
# A column with more distinct values than this, or than a tenth of the tokens, is not one of tags.
_MOST_TAGS = 500
# Learning takes time and memory for every pair of labels; of a CRF more than of a perceptron.
_MANY_LABELS = 60
_LEAST_FEATURES = 1 << 16
# With fewer characters than this, tokens are characters, but for some numbers or foreign words.
_CHARACTERS_PER_TOKEN = 1.2
_SIMPLE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass(frozen=True, slots=True)
class FirstConfig:
    """A configuration for one file.

    Attributes
    ----------
    name : of the model, its topic and its state.
    file : name of the file that it is for.
    size : how many sequences and tokens it has.
    columns : names, in the order of the file.
    templates : lines; none if the features are ready-made.
    constrain : the scheme in which all labellings of the file are valid.
    learner : kind.
    features_known : in use after one pass; 0 if that is not known.
    test : scores of the last tenth after one pass over the others; None if there are none.
    """

    name: str
    file: str
    size: str
    columns: tuple[str, ...]
    templates: tuple[str, ...]
    constrain: Scheme
    learner: str
    features_known: int = 0
    test: dict[str, Any] | None = None

    def text(self) -> str:
        """Return the configuration as YAML with comments."""
        return "\n".join(self._lines()) + "\n"

    @property
    def score(self) -> str:
        """What the pass reached, in words; "" if that is not known."""
        if self.test is None:
            return ""
        accuracy = f"token accuracy {self.test['token_accuracy']:.4f}"
        return accuracy if self.test["f1"] is None else f"F1 {self.test['f1']:.4f} ({accuracy})"

    def _lines(self) -> Iterator[str]:
        yield f"# For {self.file}: {self.size}."
        if self.score:
            yield "# After one pass over the first nine tenths of the file, the last tenth is labelled with"
            yield f"# {self.score}."
        yield "# Every key is explained in configs/README.md of streamlearn."
        yield f"model: {self.name}"
        yield ""
        yield "source:"
        yield "  # `streamlearn run` learns from this topic; `streamlearn produce --config` writes to it."
        yield f"  topics: [{self.name}]"
        yield "kafka:"
        yield "  bootstrap_servers: localhost:9092"
        yield ""
        if self.constrain != "none":
            yield "labels:"
            yield "  # All labellings of the file are valid in this scheme; predictions will be, too."
            yield f"  constrain: {self.constrain}"
            yield ""
        yield from self._features()
        yield ""
        yield "learner:"
        if self.learner == "perceptron":
            yield "  # Collins' perceptron, averaged: fast with many labels. adagrad is more accurate."
        else:
            yield "  # A CRF: the most accurate after one pass on most tasks. perceptron is faster."
        yield f"  kind: {self.learner}"
        yield ""
        yield "checkpoint:"
        yield f"  directory: state/{self.name}"

    def _features(self) -> Iterator[str]:
        yield "features:"
        if self.templates:
            yield "  # The columns of a record; in a column file they have this order, and the label is last."
            yield f"  columns: [{', '.join(map(_quoted, self.columns))}]"
            yield "  # Each line is a feature: the value of a column so far from the token, or a view of it."
            yield "  templates: |"
            yield from (f"    {line}" for line in self.templates)
        else:
            yield "  # The records have ready-made features, so that there are no columns and templates."
            yield "  columns: []"
        if self.features_known:
            yield f"  # One pass over nine tenths uses {self.features_known:,}; a full table takes no more."
            yield f"  max_features: {_room(self.features_known)}"


def fitting(name: str, file: str, survey: Survey) -> FirstConfig:
    """Return what fits a file.

    Parameters
    ----------
    name : for the model.
    file : its name.
    """
    labels = list(survey.labels)
    scheme = LabelScheme()
    scheme.grow(labels)
    columns = _named(survey)
    return FirstConfig(
        name=name,
        file=file,
        size=f"{survey.sequences:,} sequences with {survey.tokens:,} tokens, {len(labels)} labels",
        columns=tuple(columns),
        templates=tuple(_templates(columns, survey.tokens, scheme.is_spans)),
        constrain=scheme_of(survey) if scheme.is_spans and len(labels) > 1 else "none",
        learner="perceptron" if len(labels) > _MANY_LABELS else "adagrad",
    )


def scheme_of(survey: Survey) -> Scheme:
    """Return the scheme in which every labelling is valid; "none" if there is none."""
    labels = list(survey.labels)
    number = {label: y for y, label in enumerate(labels)}
    for scheme in _SCHEMES:
        mask = Constraint(scheme).mask(labels)
        if (
            all(mask.first[number[label]] == 0 for label in survey.begins)
            and all(mask.pairs[number[one], number[other]] == 0 for one, other in survey.pairs)
            and all(mask.last[number[label]] == 0 for label in survey.ends)
        ):
            return scheme
    return "none"


def describe_scheme(survey: Survey, constrain: Scheme) -> str:
    """Return what the labels mark, in words."""
    scheme = LabelScheme()
    scheme.grow(list(survey.labels))
    return (
        "spans, in no strict scheme" if scheme.is_spans and constrain == "none" else _SCHEME_NAMES[constrain]
    )


def _named(survey: Survey) -> dict[str, ColumnFacts]:
    """Return the columns of the configuration under the names that they have there."""
    columns = survey.columns
    if "form" in columns and len(set(CONLLU_NAMES) - columns.keys()) <= 1:
        # Annotation is what a tagger is to predict, not what it is given.
        return {"form": columns["form"]}
    if "0" not in columns:
        return columns
    # Numbers are no names. The column with the most distinct values is that of the words.
    word = max(columns, key=lambda name: len(columns[name].values))
    return {"w" if name == word else f"c{name}": facts for name, facts in columns.items()}


def _templates(columns: Mapping[str, ColumnFacts], tokens: int, is_spans: bool) -> list[str]:
    if not columns:
        return []
    by_values = sorted(columns, key=lambda name: -len(columns[name].values))
    word = next((name for name in columns if name.lower() in _WORD_NAMES), by_values[0])
    most = min(_MOST_TAGS, tokens // 10)
    tags = [
        name
        for name, facts in columns.items()
        # Numbers count tokens or characters.
        if name != word and len(facts.values) <= most and not all(map(str.isdecimal, facts.values))
    ]
    places = {
        name: name if _SIMPLE_NAME.fullmatch(name) else str(index) for index, name in enumerate(columns)
    }
    return first_templates(
        places[word],
        [places[name] for name in tags],
        is_spans=is_spans,
        is_characters=columns[word].characters < _CHARACTERS_PER_TOKEN * tokens,
    )


def _room(known: int) -> int:
    """Return room for four times the features, a power of 2."""
    return max(_LEAST_FEATURES, 1 << (4 * known - 1).bit_length())


def _quoted(name: str) -> str:
    is_plain = _SIMPLE_NAME.fullmatch(name) and name.lower() not in _YAML_WORDS
    return name if is_plain else json.dumps(name, ensure_ascii=False)
