"""CoNLL and CRF++ column files: one token per row, blank lines between sequences.

The format has no specification, so a reader has to guess. These are the guesses; each is counted and
reported:

* A line of only spaces and tabs is blank. A row that starts with ``-DOCSTART-`` counts as a blank line, too.
* A line that starts with ``#`` is a comment if it comes before the first token of a sequence and differs from
  the rows of that sequence in its number of columns or its separator. So the token ``#`` remains a token;
  ``# key = value`` is always a comment. Later in a sequence ``#`` starts a token.
* CoNLL-U's multiword ranges (``1-2``) and empty nodes (``5.1``) are not words of the sentence: skipped.
* Bytes that are not UTF-8, NUL characters, rows of unequal width and empty fields reject their sequence,
  never the rest of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from operator import methodcaller
from typing import NamedTuple

from streamlearn.corpus.column_layout import CONLLU_NAMES, ColumnLayout
from streamlearn.corpus.read_report import ReadReport
from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError, UsageError

Rows = list[tuple[int, list[str]]]

_FIELDS = re.compile(r"[^ \t]+")
_KEY_VALUE = re.compile(r"#\s*\S+\s+=\s")
_NOT_A_WORD = re.compile(r"[0-9]+([-.])[0-9]+")
_NOT_A_WORD_KINDS = {"-": "multiword ranges skipped", ".": "empty nodes skipped"}
_CONLLU_WIDTH = len(CONLLU_NAMES)
_LINE_ENDS = {"\r\n": "CRLF line ends", "\r": "CR line ends"}
# First characters of lines that may be blank.
_MAY_SEPARATE = frozenset(["", " ", "\t", "-"])

# Bounds memory: a small compressed file may expand to gigabytes of a single sequence.
_MAX_BLOCK_CHARS = 32 << 20

_split_at_tabs = methodcaller("split", "\t")


class Block(NamedTuple):
    """Adjacent lines that are not blank; `first` is the line number of the first, from 1.

    `is_cut` is set if there were more lines than fit.
    """

    first: int
    lines: list[str]
    is_cut: bool = False


def blocks(lines: Iterable[str], report: ReadReport, max_lines: int) -> Iterator[Block]:
    """Cut lines at blank ones, in bounded memory: blocks of more than `max_lines` are cut off.

    Parameters
    ----------
    lines : with their line ends, as from a file opened with ``newline=""``.
    """
    first, size, is_cut = 1, 0, False
    block: list[str] = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        end = line[len(text) :]
        if end != "\n" and end in _LINE_ENDS:
            report.repaired[_LINE_ENDS[end]] += 1
        if text[:1] in _MAY_SEPARATE and _separates(text, report):
            if block:
                yield Block(first, block, is_cut)
            block = []
        elif not block:
            first, block, size, is_cut = number, [text], len(text), False
        elif len(block) < max_lines and size < _MAX_BLOCK_CHARS:
            block.append(text)
            size += len(text)
        else:
            is_cut = True
    if block:
        yield Block(first, block, is_cut)


def _separates(text: str, report: ReadReport) -> bool:
    if not text.strip(" \t"):
        if text:
            report.repaired["whitespace-only lines"] += 1
        return True
    if text.startswith("-DOCSTART-") and text[10:11] in ("", " ", "\t"):
        report.repaired["-DOCSTART- rows skipped"] += 1
        return True
    return False


class ColumnReader:
    """Reads the sequences of one file.

    Parameters
    ----------
    path : name of the file in messages.
    layout : what its columns mean.
    report : counts accepted, repaired and rejected sequences.
    """

    def __init__(self, path: str, layout: ColumnLayout, report: ReadReport) -> None:
        self._path = path
        self._layout = layout
        self._report = report
        self._header_due = layout.header
        self._width = layout.known_width
        # Whether the last good sequence had tabs: used to interpret a sequence of only "#" lines.
        self._tabbed = False
        # Leaves room for comments in addition to the tokens.
        self._max_lines = 2 * layout.max_tokens
        self._most_tokens = f"{layout.max_tokens} tokens"

    def read(self, lines: Iterable[str]) -> Iterator[tuple[int, Example] | RecordError]:
        r"""Yield each sequence with the number of its first line, or why it is rejected; report both.

        Raises
        ------
        UsageError : there is no label column, or the header row is invalid.

        Examples
        --------
        >>> reader = ColumnReader("f.txt", ColumnLayout(names=("w",)), ReadReport())
        >>> [entry for entry in reader.read(["New B\n", "York I\n", "\n", "bad\n"])][1]
        RecordError('f.txt:4: 1 column, wanted 2')
        """
        for block in blocks(lines, self._report, self._max_lines):
            try:
                found = self._example(block)
            except RecordError as error:
                self._report.refuse(error)
                yield error
                continue
            if found is not None:
                self._report.accepted += 1
                yield found

    def _example(self, block: Block) -> tuple[int, Example] | None:
        if block.is_cut:
            is_many = len(block.lines) >= self._max_lines
            limit = self._most_tokens if is_many else f"{_MAX_BLOCK_CHARS} characters"
            raise self._too_large(block.first, limit)
        self._check_characters(block)
        rows = self._words(self._rows(self._skip_comments(block)))
        if rows and self._header_due:
            self._take_header(*rows.pop(0))
        if not rows:
            return None
        if len(rows) > self._layout.max_tokens:
            raise self._too_large(rows[0][0], self._most_tokens)
        self._check_width(rows)
        columns = self._layout.fit(len(rows[0][1]))
        fields = [list(column) for column in zip(*(row for _, row in rows), strict=True)]
        if len(fields) == 1 and columns.label == 0:
            raise self._error(
                Reason.MISSING_LABELS, rows[0][0], "1 column, wanted at least 2: a token and its label"
            )
        if columns.label is not None:
            fields[columns.label] = self._trimmed(fields[columns.label])
        self._check_filled(rows, fields)
        if self._layout.conllu:
            self._check_ids(rows)
        self._width = self._width or len(fields)
        self._tabbed = "\t" in block.lines[-1]
        labels = None if columns.label is None else fields[columns.label]
        return rows[0][0], Example({name: fields[index] for name, index in columns.kept}, labels)

    def _check_characters(self, block: Block) -> None:
        text = "\n".join(block.lines)
        if "\0" in text:
            line = block.first + text.count("\n", 0, text.index("\0"))
            raise self._error(
                Reason.ENCODING,
                line,
                "a NUL character: the file is damaged, or UTF-16 without a byte order mark",
            )
        if text.isascii():
            return
        try:
            text.encode()
        except UnicodeEncodeError as error:
            line = block.first + text.count("\n", 0, error.start)
            byte = ord(text[error.start]) & 0xFF
            raise self._error(
                Reason.ENCODING,
                line,
                f"byte 0x{byte:02x} is not UTF-8; convert the file or name its encoding",
            ) from error

    def _skip_comments(self, block: Block) -> Block:
        lines = block.lines
        count = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
        if count < len(lines):
            tabbed = "\t" in lines[count]
            width = len(self._splitter(tabbed)(lines[count]))
        else:
            tabbed, width = self._tabbed, self._width or 0
        while count and self._is_row(lines[count - 1], tabbed, width):
            count -= 1
        if count:
            self._report.repaired["comment lines skipped"] += count
        return Block(block.first + count, lines[count:])

    def _is_row(self, line: str, tabbed: bool, width: int) -> bool:
        if _KEY_VALUE.match(line) or (self._layout.separator == "auto" and ("\t" in line) != tabbed):
            return False
        return len(self._splitter(tabbed)(line)) == width

    def _rows(self, block: Block) -> Rows:
        lines = block.lines
        if self._layout.separator == "auto" and len(tabbed := ["\t" in line for line in lines]) > 1:
            odd = next((n for n, has_tab in enumerate(tabbed) if has_tab != tabbed[0]), 0)
            if odd:
                here, there = ("a tab", "none") if tabbed[odd] else ("no tab", "one")
                raise self._error(
                    Reason.SYNTAX,
                    block.first + odd,
                    f"{here}, but line {block.first} has {there}; wanted the same separator in all rows of a "
                    "sequence (the separator 'whitespace' accepts both)",
                )
        split = self._splitter(bool(lines) and "\t" in lines[0])
        return list(enumerate(map(split, lines), block.first))

    def _splitter(self, tabbed: bool) -> Callable[[str], list[str]]:
        separator = self._layout.separator
        return _split_at_tabs if separator == "tab" or (separator == "auto" and tabbed) else _split_at_blanks

    def _words(self, rows: Rows) -> Rows:
        if not any(len(row) == _CONLLU_WIDTH for _, row in rows):
            return rows
        kinds = [_kind_of_skipped_row(row) for _, row in rows]
        self._report.repaired.update(kind for kind in kinds if kind)
        return [row for row, kind in zip(rows, kinds, strict=True) if not kind]

    def _take_header(self, line: int, row: list[str]) -> None:
        self._header_due = False
        try:
            self._layout = self._layout.with_header(tuple(row))
        except UsageError as error:
            raise UsageError(f"{self._path}:{line}: the header row: {error}") from error
        self._width = self._layout.known_width

    def _check_width(self, rows: Rows) -> None:
        first_line, first = rows[0]
        wanted = self._width or len(first)
        widths = set(map(len, (row for _, row in rows)))
        optional = self._layout.names is not None and self._layout.label_is_last
        if widths == {wanted} or (optional and not self._layout.require_labels and widths == {wanted - 1}):
            return
        line, row = next((line, row) for line, row in rows if len(row) != wanted)
        why = "" if self._width else f" as in line {first_line}"
        raise self._error(Reason.LENGTH, line, f"{_columns(len(row))}, wanted {wanted}{why}")

    def _check_filled(self, rows: Rows, fields: list[list[str]]) -> None:
        if all(map(all, fields)):
            return
        position, row = next((t, row) for t, row in enumerate(zip(*fields, strict=True)) if not all(row))
        index = row.index("") + 1
        raise self._error(
            Reason.TYPE, rows[position][0], f"column {index} of {len(row)} is empty, wanted a value"
        )

    def _trimmed(self, labels: list[str]) -> list[str]:
        # A stray space would silently create another label; in a token it may be intended.
        trimmed = [label.strip(" ") for label in labels]
        if trimmed != labels:
            self._report.repaired["spaces around labels dropped"] += 1
        return trimmed

    def _check_ids(self, rows: Rows) -> None:
        for wanted, (line, row) in enumerate(rows, 1):
            if row[0] != str(wanted):
                raise self._error(Reason.SYNTAX, line, f"the id is {row[0][:40]!r}, wanted {wanted}")

    def _too_large(self, line: int, limit: str) -> RecordError:
        return self._error(Reason.TOO_LARGE, line, f"the sequence has more than {limit}")

    def _error(self, reason: Reason, line: int, message: str) -> RecordError:
        return RecordError(reason, f"{self._path}:{line}: {message}")


def _kind_of_skipped_row(row: list[str]) -> str | None:
    # Neither has a head or a relation, unlike a token such as "5.1" in another format.
    if len(row) != _CONLLU_WIDTH or row[6] != "_" or row[7] != "_":
        return None
    found = _NOT_A_WORD.fullmatch(row[0])
    return _NOT_A_WORD_KINDS[found[1]] if found else None


def _split_at_blanks(line: str) -> list[str]:
    fields = line.split(" ")
    # Single spaces are usual, and much faster to split at.
    return _FIELDS.findall(line) if "" in fields or "\t" in line else fields


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
