"""Reading sequences from files and standard input, as JSON Lines or columns, for all commands."""

import codecs
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from streamlearn.choices import Form
from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.column_reader import ColumnReader
from streamlearn.corpus.input_files import (
    DAMAGED,
    STDIN,
    byte_lines,
    detect_encoding,
    open_input,
    require_readable,
    text_lines,
    without_compression,
)
from streamlearn.corpus.read_report import ReadReport
from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError, UsageError
from streamlearn.stream.record_codec import RecordCodec

_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_CONLLU_SUFFIXES = (".conllu", ".conllup")
# The first word of a sentence, or a multiword range that begins with it; its head is a number or unknown.
_CONLLU_ROW = re.compile(r"1(-\d+)?(\t[^\t]+){5}\t(\d+|_)(\t[^\t]+){3}$")
_JSON_OBJECT = re.compile(r"\s*\{\s*[\"}]")
_MAX_LINE_CHARS = 1 << 20
# A line this much longer than the limit of its value was cut off (a line end takes up to two bytes).
_CUT_BYTES = 3


class Located(NamedTuple):
    """An Example with its file and the line of its first token or its JSON object."""

    example: Example
    path: str
    line: int


# What a reader finds where a sequence should be: its line and the Example, or why it is rejected.
_Entry = tuple[int, Example] | RecordError


class ExampleReader:
    """Iterates over the valid sequences of several files and counts the others.

    A bad sequence is skipped, the rest of its file is read. JSON Lines or columns: by the name (.jsonl,
    .ndjson, .json; .conllu), else by the content, which also shows compression (gzip, bzip2, xz, Zstandard).
    A reader can be iterated again for another pass, which adds to its counts; standard input only once.

    Parameters
    ----------
    paths : files, in order; "-" is standard input.
    form : "json", "columns", or "auto" as above.
    layout : what the columns mean.
    codec : limits for JSON Lines.
    encoding : of the text; "auto" goes by the byte order mark, else UTF-8.
    on_refused : called with the error of each rejected sequence.

    Raises
    ------
    UsageError : a file cannot be read at all; raised immediately if it is missing, else while iterating.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        form: Form | Literal["auto"] = "auto",
        layout: ColumnLayout | None = None,
        codec: RecordCodec | None = None,
        encoding: str = "auto",
        on_refused: Callable[[RecordError], None] | None = None,
    ) -> None:
        for path in paths:
            require_readable(path)
        self._paths = paths
        self._form = form
        self._layout = layout or ColumnLayout()
        self._codec = codec or RecordCodec("json")
        self._encoding = _known_encoding(encoding)
        self._report = ReadReport(on_refused=on_refused)
        self._bytes_read = 0
        self._begun = False

    @property
    def accepted(self) -> int:
        """Number of sequences returned."""
        return self._report.accepted

    @property
    def refused(self) -> Counter[Reason]:
        """Number of rejected sequences by reason."""
        return self._report.refused

    @property
    def repaired(self) -> Counter[str]:
        """Number of repairs and skipped lines by kind."""
        return self._report.repaired

    @property
    def messages(self) -> list[str]:
        """The first errors, each "file:line: what is wrong"."""
        return self._report.messages

    @property
    def bytes_read(self) -> int:
        """Number of bytes read so far, of compressed files in compressed bytes."""
        return self._bytes_read

    @property
    def has_stdin(self) -> bool:
        """Whether standard input is among the files, so that there is one pass only."""
        return STDIN in self._paths

    @property
    def total_bytes(self) -> int | None:
        """Total size of the files, or None if it cannot be known."""
        try:
            return None if self.has_stdin else sum(Path(path).stat().st_size for path in self._paths)
        except OSError:
            return None

    def __iter__(self) -> Iterator[Located]:
        for entry in self.entries():
            if isinstance(entry, Located):
                yield entry

    def entries(self) -> Iterator[Located | RecordError]:
        """Iterate over all sequences, with the error of each rejected one in its place.

        Raises
        ------
        UsageError : as for the class.
        """
        if self.has_stdin and (self._begun or self._paths.count(STDIN) > 1):
            raise UsageError("standard input can be read only once; write it to a file first")
        self._begun = True
        for path in self._paths:
            line = 0
            with open_input(path, self._count) as stream:
                try:
                    for entry in self._read(path, stream):
                        if isinstance(entry, RecordError):
                            yield entry
                        else:
                            line = entry[0]
                            yield Located(entry[1], path, line)
                except (OSError, EOFError, UnicodeError, *DAMAGED) as error:
                    raise UsageError(f"{path}: cannot be read after line {line}: {error}") from error

    def _read(self, path: str, stream: io.BufferedReader) -> Iterator[_Entry]:
        head = stream.peek(1)[:4096]
        encoding = detect_encoding(path, head) if self._encoding == "auto" else self._encoding
        if encoding == "utf-8-sig":
            self._report.repaired["byte order mark dropped"] += 1
        elif encoding != "utf-8":
            self._report.repaired[f"{encoding} decoded"] += 1
        name = without_compression(path)
        if self._choose_form(path, name, head.decode(encoding, "replace")) == "json":
            yield from self._read_json(
                path, _utf8_lines(stream, encoding, self._codec.max_bytes + _CUT_BYTES)
            )
            return
        layout = self._layout
        if self._form == "auto" and self._is_conllu(name, head.decode(encoding, "replace")):
            layout = layout.for_conllu()
        reader = ColumnReader(path, layout, self._report)
        yield from reader.read(_refuse_long(path, text_lines(stream, encoding, _MAX_LINE_CHARS)))

    def _is_conllu(self, name: str, head: str) -> bool:
        if name.endswith(_CONLLU_SUFFIXES):
            return True
        row = next((line for line in head.splitlines() if line and not line.startswith("#")), "")
        return _CONLLU_ROW.match(row) is not None and self._layout.known_width != row.count("\t") + 1

    def _choose_form(self, path: str, name: str, head: str) -> Form:
        if self._form != "auto":
            form: Form = self._form
        elif name.endswith(_CONLLU_SUFFIXES):
            form = "columns"
        else:
            form = "json" if name.endswith(_JSON_SUFFIXES) or _JSON_OBJECT.match(head) else "columns"
        if form == "json" and head.lstrip().startswith("["):
            raise UsageError(f"{path}: a JSON array, wanted one object per line (jq -c '.[]' converts it)")
        return form

    def _read_json(self, path: str, lines: Iterable[bytes]) -> Iterator[_Entry]:
        for number, line in enumerate(lines, 1):
            value = line.strip()
            if not value:
                continue
            try:
                # A line cut off within trailing blanks may look complete.
                _check_not_cut(line, self._codec.max_bytes)
                example = self._codec.decode_value(value)
            except RecordError as error:
                refused = RecordError(error.reason, f"{path}:{number}: {error}")
                self._report.refuse(refused)
                yield refused
                continue
            self._report.accepted += 1
            yield number, example

    def _count(self, size: int) -> None:
        self._bytes_read += size


def _known_encoding(encoding: str) -> str:
    if encoding == "auto":
        return encoding
    try:
        "".encode(encoding)  # unlike a lookup, this rejects codecs that are not for text
    except LookupError as error:
        raise UsageError(f"unknown encoding {encoding!r}; try utf-8, utf-16 or latin-1") from error
    name = codecs.lookup(encoding).name
    return "auto" if name == "utf-8" else name


def _utf8_lines(stream: io.BufferedReader, encoding: str, max_bytes: int) -> Iterator[bytes]:
    if encoding == "utf-8-sig":
        stream.read(3)
    elif encoding != "utf-8":
        return (line.encode(errors="surrogateescape") for line in text_lines(stream, encoding, max_bytes))
    return byte_lines(stream, max_bytes)


def _check_not_cut(line: bytes, max_bytes: int) -> None:
    if len(line) >= max_bytes + _CUT_BYTES:
        raise RecordError(Reason.TOO_LARGE, f"the line has more than {max_bytes:,} bytes")


def _refuse_long(path: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) >= _MAX_LINE_CHARS:
            raise UsageError(
                f"{path}:{number}: a line of more than {_MAX_LINE_CHARS:,} characters: not a column file"
            )
        yield line
