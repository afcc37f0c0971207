import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.example_reader import ExampleReader
from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError, UsageError
from streamlearn.stream.record_codec import RecordCodec

ODD = Path(__file__).parents[3] / "shared" / "data" / "odd"
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}
LINE = b'{"tokens":["a","b"],"labels":["O","B"]}\n'


def file(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def read(*paths: str, **options: object) -> tuple[list[Example], ExampleReader]:
    reader = ExampleReader(paths, **options)  # type: ignore[arg-type]
    return [located.example for located in reader], reader


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "A.JSONL", "a.txt", "a"])
def test_json_lines_are_known_by_name_or_content(tmp_path: Path, name: str) -> None:
    assert read(file(tmp_path, name, b"\n \n" + LINE))[0] == [Example({"tokens": ["a", "b"]}, ["O", "B"])]


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.conll", "a"])
def test_columns_are_the_rest(tmp_path: Path, name: str) -> None:
    assert read(file(tmp_path, name, b"{ O\n"))[0] == [Example({"0": ["{"]}, ["O"])]


def test_conllu_is_known_by_name(tmp_path: Path) -> None:
    row = b"1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    assert read(file(tmp_path, "a.conllu", row))[0][0].labels == ["VERB"]
    assert read(file(tmp_path, "a.conllu", row), form="columns")[0][0].labels == ["_"]


def test_a_form_may_be_forced(tmp_path: Path) -> None:
    _, reader = read(file(tmp_path, "a.jsonl", b"a O\n"), form="columns")
    assert reader.accepted == 1


@pytest.mark.parametrize("name", ["a.jsonl.{}", "a.{}", "a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items())
def test_compression_is_known_by_content(
    tmp_path: Path, name: str, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    # Tools that append or work in parallel write several members, one after the other.
    path = file(tmp_path, name.format(suffix), pack(LINE * 2) + pack(LINE))
    examples, reader = read(path)
    assert len(examples) == 3
    assert reader.bytes_read == reader.total_bytes == Path(path).stat().st_size


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_truncated_file_is_never_taken_for_a_whole_one(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    lines = b"".join(b'{"tokens":["w%d"],"labels":["O"]}\n' % (n * n) for n in range(5000))
    packed = pack(lines)
    with pytest.raises(UsageError, match=r"a\.jsonl: cannot be read after line "):
        read(file(tmp_path, "a.jsonl", packed[: len(packed) - 9]))
    assert len(read(file(tmp_path, "a.jsonl", packed))[0]) == 5000


def test_rejected_sequences_keep_their_place(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", LINE + b"{}\n" + LINE), ("a.txt", b"a O\n\nb\n\nc O\n")):
        reader = ExampleReader([file(tmp_path, name, content)])
        kinds = [isinstance(entry, RecordError) for entry in reader.entries()]
        assert kinds == [False, True, False]


def test_names_of_plain_columns_do_not_apply_to_conllu(tmp_path: Path) -> None:
    row = b"1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    for name in ("a.conllu", "a.txt"):
        examples, _ = read(file(tmp_path, name, row), layout=ColumnLayout(names=("w",), label="xpos"))
        assert (examples[0].labels, examples[0].columns["form"]) == (["VB"], ["go"])


def test_places_and_counts_of_several_files(tmp_path: Path) -> None:
    first = file(tmp_path, "a.jsonl", b"\n" + LINE + b"{}\n" + LINE)
    second = file(tmp_path, "b.txt", b"a O\n\nb O\n")
    heard: list[RecordError] = []
    reader = ExampleReader([first, second], on_refused=heard.append)
    assert [(located.path, located.line) for located in reader] == [
        (first, 2),
        (first, 4),
        (second, 1),
        (second, 3),
    ]
    assert reader.accepted == 4
    assert reader.refused == {Reason.EMPTY: 1}
    assert reader.messages == [
        f"{first}:3: the record has none of tokens, columns and features, wanted one of them"
    ]
    assert [str(error) for error in heard] == reader.messages


def test_a_second_pass_reads_again(tmp_path: Path) -> None:
    reader = ExampleReader([file(tmp_path, "a.jsonl", LINE)])
    assert list(reader) == list(reader)
    assert reader.accepted == 2


def test_stopping_in_the_middle_leaves_nothing_open(tmp_path: Path) -> None:
    reader = ExampleReader([file(tmp_path, "a.txt", b"a O\n\n" * 9), file(tmp_path, "a.jsonl", LINE * 9)])
    for _ in range(2):
        next(iter(reader))


def test_labels_may_be_required_of_json_lines(tmp_path: Path) -> None:
    path = file(tmp_path, "a.jsonl", b'{"tokens":["a"]}\n')
    assert read(path)[1].refused == {Reason.MISSING_LABELS: 1}
    assert read(path, codec=RecordCodec("json", require_labels=False))[1].accepted == 1


@pytest.mark.parametrize(
    ("tail", "refused"), [(b"  \r\n", 0), (b" " * 99 + b"\n", 1), (b" " * 99 + b"x\n", 1)]
)
def test_a_line_that_is_too_long_is_refused_alone(tmp_path: Path, tail: bytes, refused: int) -> None:
    codec = RecordCodec("json", max_bytes=len(LINE) + 1)
    _, reader = read(file(tmp_path, "a.jsonl", LINE.strip() + tail + LINE), codec=codec)
    assert (reader.accepted, reader.refused[Reason.TOO_LARGE]) == (2 - refused, refused)


def test_a_long_line_never_fills_the_memory(tmp_path: Path) -> None:
    codec = RecordCodec("json", max_bytes=64)
    _, reader = read(file(tmp_path, "a.jsonl", b"[" * 100_000 + b"\n" + LINE), codec=codec, form="columns")
    assert reader.refused.total() == 1
    _, reader = read(file(tmp_path, "b.jsonl", b"{" * 100_000 + b"\n" + LINE), codec=codec)
    assert (reader.refused, reader.accepted) == ({Reason.TOO_LARGE: 1}, 1)
    with pytest.raises(UsageError, match=r"a\.txt:2: a line of more than 1,048,576 characters"):
        read(file(tmp_path, "a.txt", b"a O\n" + b"x" * (1 << 21)))


@pytest.mark.parametrize(
    ("encoding", "kind"),
    [("utf-8-sig", "byte order mark dropped"), ("utf-16", "utf-16 decoded"), ("utf-32", "utf-32 decoded")],
)
def test_byte_order_marks_tell_the_encoding(tmp_path: Path, encoding: str, kind: str) -> None:
    columns, reader = read(file(tmp_path, "a.txt", "é O\n\n漢 B\n".encode(encoding)))
    assert [example.columns["0"] for example in columns] == [["é"], ["漢"]]
    assert reader.repaired == {kind: 1}
    lines, reader = read(file(tmp_path, "a", ('{"tokens":["é"],"labels":["O"]}\n' * 2).encode(encoding)))
    assert [example.columns["tokens"] for example in lines] == [["é"], ["é"]]
    assert reader.repaired == {kind: 1}


def test_latin_1_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    path = file(tmp_path, "a.txt", "a O\n\ncafé O\n\nb O\n".encode("latin-1"))
    _, reader = read(path)
    assert reader.accepted == 2
    assert reader.messages == [f"{path}:3: byte 0xe9 is not UTF-8; convert the file or name its encoding"]
    assert read(path, encoding="latin-1")[0][1].columns == {"0": ["café"]}


@pytest.mark.parametrize("encoding", ["klingon", "hex"])
def test_unknown_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(UsageError, match="unknown encoding"):
        ExampleReader([], encoding=encoding)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bytes(range(256)), "not a text file: binary, or UTF-16 without a byte order mark"),
        ("a O\n".encode("utf-16-le"), "not a text file: binary"),
        (b' [\n{"tokens": []}]', "a JSON array, wanted one object per line"),
        (gzip.compress(LINE * 1000)[:-20], "cannot be read after line"),
        (b"\x1f\x8bxxxx", "cannot be read after line 0"),
        (b"\xff\xfea\0 \0O\0\n\0\0\xd8", "cannot be read after line"),
    ],
)
def test_files_that_cannot_be_read_say_where_and_why(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(file(tmp_path, "a.jsonl" if b"[" in content[:2] else "a", content))


def test_missing_files_and_directories_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        ExampleReader([str(tmp_path / "missing")])
    with pytest.raises(UsageError, match="is a directory"):
        ExampleReader([str(tmp_path)])


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, gzip.compress(LINE * 2))
    reader = ExampleReader(["-"])
    assert [(located.path, located.line) for located in reader] == [("-", 1), ("-", 2)]
    assert reader.total_bytes is None
    with pytest.raises(UsageError, match="only once"):
        list(reader)
    with pytest.raises(UsageError, match="only once"):
        list(ExampleReader(["-", "-"]))


def test_standard_input_is_seen_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with open(reading, encoding="utf-8") as source, open(writing, "wb", buffering=0) as pipe:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", source)
        examples = iter(ExampleReader(["-"]))
        for _ in range(2):
            pipe.write(LINE)
            assert next(examples).example.labels == ["O", "B"]


def test_the_layout_is_used(tmp_path: Path) -> None:
    layout = ColumnLayout(names=("w", "pos"))
    assert read(file(tmp_path, "a.txt", b"a X O\n"), layout=layout)[0] == [
        Example({"w": ["a"], "pos": ["X"]}, ["O"])
    ]


# What a reader makes of each file: sequences accepted and refused.
ODD_OUTCOMES = {
    "made_bom.txt": (1, 0),
    "made_crlf.txt": (1, 0),
    "made_duplicate_key.jsonl": (0, 1),
    "made_empty_file.txt": (0, 0),
    "made_empty_label.tsv": (0, 1),
    "made_latin1.txt": (0, 1),
    "made_length_mismatch.jsonl": (0, 1),
    "made_missing_column.txt": (0, 1),
    "made_mixed_tab_space.txt": (0, 1),
    "made_nbsp_token.tsv": (1, 0),
    "made_nul_byte.txt": (0, 1),
    "made_only_blank_lines.txt": (0, 0),
    "made_utf16.txt": (1, 0),
    "made_zero_width_token.tsv": (1, 0),
}


@pytest.mark.data
def test_every_odd_file_has_an_outcome() -> None:
    if not ODD.is_dir():
        pytest.skip(f"the benchmark data is not at {ODD}")
    for path in sorted(ODD.iterdir()):
        examples, reader = read(str(path))
        outcome = (len(examples), reader.refused.total())
        assert outcome == ODD_OUTCOMES.get(path.name, outcome), path.name
        assert sum(outcome) or "empty" in path.name or "blank" in path.name, path.name
        assert all(str(path) + ":" in message for message in reader.messages)
