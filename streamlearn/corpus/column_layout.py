"""The meaning of the columns of a CoNLL or CRF++ file."""

from dataclasses import dataclass, replace

from streamlearn.choices import Separator
from streamlearn.errors import UsageError

CONLLU_NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(frozen=True, slots=True)
class Columns:
    """The meaning of each field of a row.

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
    names : names of the columns, "_" to leave one out. None: "0", "1", … (for CoNLL-U its ten names).
    label : "last" = one more column after the named ones; "none" = no labels; else the name of the label
        column. "auto" is "last", but "upos" for CoNLL-U.
    separator : "tab" = every tab separates, so that a field may contain spaces or be (wrongly) empty;
        "whitespace" = runs of spaces and tabs; "auto" = tabs if a sequence has them. No other character
        separates, so that no-break spaces remain part of their token.
    header : the first row contains the names; ignored if `names` is given.
    conllu : ten columns, with ids 1, 2, 3, ….
    require_labels : if False, rows without the last (label) column form a sequence without labels.
    max_tokens : longer sequences are rejected.

    Raises
    ------
    UsageError : the names contradict each other.
    """

    names: tuple[str, ...] | None = None
    label: str = "auto"
    separator: Separator = "auto"
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
            raise UsageError(
                f'column names {shown}: wanted non-empty, distinct names ("_" leaves a column out)'
            )
        if not kept:
            raise UsageError(f"column names {shown}: wanted at least one besides the label")
        # Which names a file has is known once it is read: it may be CoNLL-U.
        if self.label not in ("auto", "last", "none", *self.names, *CONLLU_NAMES):
            raise UsageError(f"label column {self.label!r} is not among the columns {shown}")

    @property
    def label_is_last(self) -> bool:
        """Whether the labels are in a column after the named ones."""
        return self.label == "last" or (self.label == "auto" and not (self.conllu and self.names is None))

    @property
    def known_width(self) -> int | None:
        """The required number of columns, or None if the file decides."""
        if self.names is None:
            return len(CONLLU_NAMES) if self.conllu else None
        return len(self.names) + self.label_is_last

    def for_conllu(self) -> "ColumnLayout":
        """Return this layout for CoNLL-U, which has its own names unless ten others are given."""
        names = self.names if self.names and len(self.names) == len(CONLLU_NAMES) else None
        return replace(self, names=names, header=False, conllu=True)

    def fit(self, width: int) -> Columns:
        """Return the meaning of each of `width` columns.

        Raises
        ------
        UsageError : there is no label column.
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
        """Return this layout with the names of a header row, unless it has names."""
        if self.names is not None:
            return self
        return replace(self, names=row[:-1] if self.label_is_last else row)
