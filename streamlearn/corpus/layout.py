"""What the columns of a CoNLL or CRF++ file mean."""

from dataclasses import dataclass, replace
from typing import Literal

from streamlearn.errors import UsageError

CONLLU_NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(frozen=True, slots=True)
class Columns:
    """What each field of a row is.

    Attributes
    ----------
    kept : (name, index) of each column that becomes a column of the Example.
    label : index of the label column, or None.
    """

    kept: tuple[tuple[str, int], ...]
    label: int | None


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """How to read a column file.

    Attributes
    ----------
    names : names of the columns, "_" for one to leave out. None: "0", "1", … (for CoNLL-U its ten names).
    label : "last" = one more column after the named ones; "none" = there are no labels; else the name of
        the column that holds them. "auto" is "last", and "upos" for CoNLL-U.
    separator : "tab" = each tab separates, so that a field may hold spaces or be (wrongly) empty;
        "whitespace" = runs of spaces and tabs; "auto" = tabs where a sequence has them. No other character
        ever separates, so that no-break spaces stay inside their token.
    header : the first row holds names; they count unless `names` is given.
    conllu : ten columns, and ids that run 1, 2, 3, ….
    require_labels : where False, rows that lack the last label column make a sequence without labels.
    max_tokens : longer sequences are refused.

    Raises
    ------
    UsageError : names that contradict each other.
    """

    names: tuple[str, ...] | None = None
    label: str = "auto"
    separator: Literal["auto", "tab", "whitespace"] = "auto"
    header: bool = False
    conllu: bool = False
    require_labels: bool = True
    max_tokens: int = 65_536

    def __post_init__(self) -> None:
        if self.names is None:
            return
        shown = ",".join(self.names)
        kept = [name for name in self.names if name not in ("_", self.label)]
        if "" in kept or len(set(kept)) < len(kept):
            raise UsageError(f'column names {shown}: each must be given, and only once ("_" leaves one out)')
        if not kept:
            raise UsageError(f"column names {shown}: wanted at least one beside the label's")
        if self.label not in ("auto", "last", "none", *self.names):
            raise UsageError(f"label column {self.label!r} is not among the columns {shown}")

    @property
    def label_is_last(self) -> bool:
        """Whether the labels stand in a column after the named ones."""
        return self.label == "last" or (self.label == "auto" and not (self.conllu and self.names is None))

    @property
    def known_width(self) -> int | None:
        """How many columns there must be, or None where the file decides."""
        if self.names is None:
            return len(CONLLU_NAMES) if self.conllu else None
        return len(self.names) + self.label_is_last

    def fit(self, width: int) -> Columns:
        """Return what each of `width` columns is.

        Raises
        ------
        UsageError : the label column is not there.
        """
        names = self.names or (CONLLU_NAMES if self.conllu else tuple(map(str, range(width))))
        label: int | None = None
        if self.label_is_last:
            unlabelled = not self.require_labels and width == (1 if self.names is None else len(names))
            label = None if unlabelled else width - 1
        elif self.label != "none":
            wanted = "upos" if self.label == "auto" else self.label
            if wanted not in names:
                raise UsageError(f"label column {wanted!r} is not among the columns {', '.join(names)}")
            label = names.index(wanted)
        kept = [(name, index) for index, name in enumerate(names) if index != label and name != "_"]
        return Columns(tuple(kept), label)

    def with_header(self, row: tuple[str, ...]) -> "ColumnLayout":
        """Take the names from a header row, unless they were given."""
        if self.names is not None:
            return self
        return replace(self, names=row[:-1] if self.label_is_last else row)
