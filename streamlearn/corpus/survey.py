"""What a file of labelled sequences looks like: its columns, labels and lengths."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from streamlearn.corpus.example_reader import Located
from streamlearn.data import Example

# Distinct values are counted up to this number in each column, in bounded memory.
MOST_VALUES = 200_000
# What the first row of a column file says above the labels, if it contains names.
_LABEL_NAMES = {
    "label",
    "labels",
    "tag",
    "tags",
    "ner",
    "ner_tag",
    "ner_tags",
    "pos",
    "upos",
    "xpos",
    "chunk",
}


@dataclass(slots=True)
class ColumnFacts:
    """The values of one column: up to `MOST_VALUES` distinct ones, and the characters of all."""

    values: set[str] = field(default_factory=set)
    characters: int = 0


@dataclass(slots=True)
class Survey:
    """Counts of the sequences of a file.

    Attributes
    ----------
    columns : by name, in the order of the file; empty if all features are ready-made.
    labels : tokens of each label; in the order of first use.
    begins, pairs, ends : how often a label is the first, follows another, and is the last of a sequence.
    shortest, longest : numbers of tokens.
    """

    columns: dict[str, ColumnFacts] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    begins: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    sequences: int = 0
    tokens: int = 0
    shortest: int = 0
    longest: int = 0
    _first_label: str = ""

    def add(self, example: Example) -> None:
        """Count one labelled sequence."""
        labels, length = example.labels or [], len(example)
        for name, values in example.columns.items():
            facts = self.columns.setdefault(name, ColumnFacts())
            facts.characters += sum(map(len, values))
            if len(facts.values) < MOST_VALUES:
                facts.values.update(values)
        self._first_label = self._first_label or labels[0]
        self.labels.update(labels)
        self.pairs.update(pairwise(labels))
        self.begins[labels[0]] += 1
        self.ends[labels[-1]] += 1
        self.shortest = min(length, self.shortest or length)
        self.longest = max(length, self.longest)
        self.tokens += length
        self.sequences += 1

    @property
    def begins_with_names(self) -> bool:
        """Whether the first row of a column file seems to contain the names of the columns."""
        first = self._first_label
        return self.labels[first] == 1 and first.lower() in _LABEL_NAMES


def survey(examples: Iterable[Located]) -> Survey:
    """Return the counts of all sequences, which must have labels.

    Examples
    --------
    >>> found = survey([Located(Example({"w": ["New", "York"]}, ["B", "I"]), "f", 1)])
    >>> found.tokens, found.columns["w"].characters, list(found.labels), dict(found.pairs)
    (2, 7, ['B', 'I'], {('B', 'I'): 1})
    """
    found = Survey()
    for located in examples:
        found.add(located.example)
    return found
