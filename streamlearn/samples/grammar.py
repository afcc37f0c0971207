"""Sentences from patterns: words, and slots that are filled from lists and labelled as spans.

A pattern is a string such as ``"{PER} joined {ORG} ."``; words may carry a part of speech, as in
``joined/VBD``.
What fills a slot is drawn from its fillers, in which ``{…}`` may refer to other slots.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamlearn.data import Example

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Grammar:
    """Patterns of sequences, and what fills their slots.

    Attributes
    ----------
    columns : names of the columns: the word, and what follows each ``/`` of it.
    patterns : one is drawn for each sequence, all with the same probability.
    fillers : of each slot; one is drawn for each use.
    spans : the slots that are labelled, each with its label's type; a filler outside of them is ``O``.
    """

    columns: tuple[str, ...]
    patterns: Sequence[str]
    fillers: Mapping[str, Sequence[str]]
    spans: Mapping[str, str]

    def draw(self, rng: random.Random) -> Example:
        """Return one sequence, with labels in BIO."""
        words, labels = [], []
        for part in rng.choice(self.patterns).split():
            slot = _SLOT.fullmatch(part)
            filled = self._fill(part, rng).split()
            kind = self.spans.get(slot[1]) if slot else None
            words += filled
            labels += [f"B-{kind}", *[f"I-{kind}"] * (len(filled) - 1)] if kind else ["O"] * len(filled)
        fields = [word.rsplit("/", len(self.columns) - 1) for word in words]
        return Example(dict(zip(self.columns, map(list, zip(*fields, strict=True)), strict=True)), labels)

    def _fill(self, text: str, rng: random.Random) -> str:
        while slot := _SLOT.search(text):
            text = text[: slot.start()] + rng.choice(self.fillers[slot[1]]) + text[slot.end() :]
        return text
