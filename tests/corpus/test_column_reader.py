from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.column_reader import ColumnReader
from streamlearn.corpus.read_report import ReadReport
from streamlearn.data import Example
from streamlearn.errors import Reason, RecordError, UsageError


def accepted(reader: ColumnReader, lines: Iterable[str]) -> list[tuple[int, Example]]:
    return [entry for entry in reader.read(lines) if not isinstance(entry, RecordError)]


def read(text: str, **layout: object) -> tuple[list[tuple[int, Example]], ReadReport]:
    report = ReadReport()
    reader = ColumnReader("f", ColumnLayout(**layout), report)  # type: ignore[arg-type]
    lines = text.replace("\r\n", "\r\n\0").replace("\n\0", "\n").splitlines(keepends=True)
    return accepted(reader, lines), report


def one(text: str, **layout: object) -> Example:
    ((_, example),), report = read(text, **layout)
    assert not report.refused
    return example


def refusal(text: str, **layout: object) -> tuple[Reason, str]:
    _, report = read(text, **layout)
    (reason,) = report.refused
    (message,) = report.messages
    return reason, message


def test_columns_are_numbered_and_the_last_holds_the_labels() -> None:
    assert one("the DT B\ndog NN I\n") == Example({"0": ["the", "dog"], "1": ["DT", "NN"]}, ["B", "I"])


def test_named_columns_stand_before_the_labels() -> None:
    assert one("the DT B\n", names=("w", "pos")) == Example({"w": ["the"], "pos": ["DT"]}, ["B"])


def test_the_label_column_may_be_named_and_others_left_out() -> None:
    assert one("the DT B x\n", names=("w", "_", "y", "_"), label="y") == Example({"w": ["the"]}, ["B"])


def test_a_numbered_label_column() -> None:
    assert one("the DT +\n", label="1") == Example({"0": ["the"], "2": ["+"]}, ["DT"])


def test_files_without_labels() -> None:
    assert one("the DT\n", label="none") == Example({"0": ["the"], "1": ["DT"]})
    assert one("the DT\n", names=("w", "pos"), require_labels=False) == Example({"w": ["the"], "pos": ["DT"]})
    assert one("the\n", require_labels=False) == Example({"0": ["the"]})


@pytest.mark.parametrize(
    "layout",
    [
        {"names": ("w", "w")},
        {"names": ("w", "")},
        {"names": ("_",)},
        {"names": ("w",), "label": "w"},
        {"names": ("w",), "label": "y"},
    ],
)
def test_names_that_cannot_be_meant_are_refused(layout: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ColumnLayout(**layout)  # type: ignore[arg-type]


def test_a_label_column_that_is_not_there_stops_the_reading() -> None:
    with pytest.raises(UsageError, match="label column '7' is not among the columns 0, 1"):
        read("the DT\n", label="7")


def test_a_header_names_the_columns() -> None:
    assert one("WORD TAG\nthe O\n", header=True) == Example({"WORD": ["the"]}, ["O"])
    assert one("WORD TAG\n\nthe O\n", header=True, label="WORD") == Example({"TAG": ["O"]}, ["the"])
    assert one("WORD TAG\nthe O\n", header=True, names=("w",)) == Example({"w": ["the"]}, ["O"])


def test_a_header_that_is_none_stops_the_reading() -> None:
    with pytest.raises(UsageError, match="f:1: the header row: "):
        read("the the O\n", header=True)


def test_blank_lines_separate_and_lines_are_numbered() -> None:
    found, report = read("\n \na O\nb O\n\t\n\n\nc O")
    assert [(line, example.columns["0"]) for line, example in found] == [(3, ["a", "b"]), (8, ["c"])]
    assert report.accepted == 2
    assert report.repaired == {"whitespace-only lines": 2}


@pytest.mark.parametrize(("end", "kind"), [("\r\n", "CRLF line ends"), ("\r", "CR line ends")])
def test_foreign_line_ends_are_repaired(end: str, kind: str) -> None:
    found, report = read(end.join(["a O", "b O", "", "c B", ""]))
    assert [example.labels for _, example in found] == [["O", "O"], ["B"]]
    assert report.repaired == {kind: 4}


def test_docstart_rows_separate_documents() -> None:
    found, report = read("-DOCSTART- -X- O\n\na X O\n-DOCSTART-\nb X B\n-DOCSTART-x X O\n")
    assert [example.columns["0"] for _, example in found] == [["a"], ["b", "-DOCSTART-x"]]
    assert report.repaired == {"-DOCSTART- rows skipped": 2}


@pytest.mark.parametrize("space", ["\u00a0", "\u200b", "\u3000", "\ufeff", "\x0b", "\u2028", "\x85"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_only_spaces_and_tabs_separate(space: str, separator: str) -> None:
    report = ReadReport()
    reader = ColumnReader("f", ColumnLayout(), report)
    found = list(reader.read([f"10{space}000{separator}O\n", f"{space}{separator}O\n"]))
    assert found == [(1, Example({"0": [f"10{space}000", space]}, ["O", "O"]))]


def test_spaces_stay_in_tab_separated_tokens() -> None:
    assert one("New York\tB\n \tO\n").columns == {"0": ["New York", " "]}


def test_spaces_around_labels_are_dropped() -> None:
    found, report = read("a\tO \n")
    assert found[0][1].labels == ["O"]
    assert report.repaired == {"spaces around labels dropped": 1}


def test_runs_of_spaces_and_tabs_are_one_separator() -> None:
    assert one("  the   DT \t B  \n", separator="whitespace").labels == ["B"]


def test_a_missing_tab_is_not_made_up_from_a_space() -> None:
    assert refusal("a\tO\nNew York\n") == (
        Reason.SYNTAX,
        "f:2: no tab, but line 1 has one; wanted the same separator in all rows of a"
        " sequence (the separator 'whitespace' accepts both)",
    )
    assert one("a\tO\nNew York\n", separator="whitespace").labels == ["O", "York"]


def test_a_bad_sequence_does_not_end_the_file() -> None:
    found, report = read("a X O\n\nb O\n\nc X O extra\nd X O\n\ne X B\n")
    assert [line for line, _ in found] == [1, 8]
    assert report.refused == {Reason.LENGTH: 2}
    assert report.messages == ["f:3: 2 columns, wanted 3", "f:5: 4 columns, wanted 3"]


def test_rows_of_unequal_width_are_refused() -> None:
    assert refusal("a X O\nb O\n") == (Reason.LENGTH, "f:2: 2 columns, wanted 3 as in line 1")
    assert refusal("a\nb\n", names=("w",)) == (Reason.LENGTH, "f:1: 1 column, wanted 2")


def test_a_single_column_cannot_be_learned_from() -> None:
    assert refusal("a\n") == (
        Reason.MISSING_LABELS,
        "f:1: 1 column, wanted at least 2: a token and its label",
    )


@pytest.mark.parametrize("row", ["\tX\tO", "b\t\tO", "b\tX\t", "b\tX\t "])
def test_empty_fields_are_refused(row: str) -> None:
    reason, message = refusal(f"a\tX\tO\n{row}\n")
    assert reason == Reason.TYPE
    assert message.startswith("f:2: column ")


def test_bytes_that_are_no_text_are_refused() -> None:
    assert refusal("a O\ncaf\udce9 O\n") == (
        Reason.ENCODING,
        "f:2: byte 0xe9 is not UTF-8; convert the file or name its encoding",
    )
    assert refusal("a O\nb\0 O\n")[0] == Reason.ENCODING


def test_a_long_sequence_is_refused_without_being_kept() -> None:
    def rows() -> Iterator[str]:
        yield from ("a O\n" for _ in range(100_000))
        yield from ("\n", "b O\n")

    report = ReadReport()
    found = accepted(ColumnReader("f", ColumnLayout(max_tokens=10), report), rows())
    assert [line for line, _ in found] == [100_002]
    assert report.messages == ["f:1: the sequence has more than 10 tokens"]


def test_messages_are_bounded_and_the_callback_hears_all() -> None:
    heard: list[str] = []
    report = ReadReport(max_messages=2, on_refused=lambda error: heard.append(str(error)))
    assert not accepted(ColumnReader("f", ColumnLayout(), report), ["a\n", "\n"] * 5)
    assert (len(report.messages), len(heard)) == (2, 5)


def test_comments_before_a_sequence_are_skipped() -> None:
    found, report = read("# text = a b\n#\tsource\na\tX\tO\n\n# nothing else\n\n#x\nb\tX\tO\n")
    assert [(line, example.columns["0"]) for line, example in found] == [(3, ["a"]), (8, ["b"])]
    assert report.repaired == {"comment lines skipped": 4}


def test_a_hash_that_looks_like_a_row_is_a_token() -> None:
    assert one("# # B\n3 CD I\n# # I\n").columns["0"] == ["#", "3", "#"]
    found, _ = read("a X O\n\n# # B\n")
    assert [example.columns["0"] for _, example in found] == [["a"], ["#"]]


def test_a_comment_within_a_sequence_is_a_bad_row() -> None:
    assert refusal("a X O\n# who wrote this\nb X O\n") == (
        Reason.LENGTH,
        "f:2: 4 columns, wanted 3 as in line 1",
    )


def conllu(*rows: str) -> str:
    return "".join(row.replace(" ", "\t") + "\n" for row in rows)


WORD = "{} dogs dog NOUN NNS _ 0 root _ _"


def test_conllu_has_its_names_and_upos_for_labels() -> None:
    example = one("# sent_id = 1\n" + conllu(WORD.format(1)), conllu=True)
    assert example.labels == ["NOUN"]
    assert list(example.columns) == ["id", "form", "lemma", "xpos", "feats", "head", "deprel", "deps", "misc"]


def test_ranges_and_empty_nodes_are_no_words() -> None:
    rows = [WORD.format(1), "2-3 dela _ _ _ _ _ _ _ _", *map(WORD.format, (2, 3)), "3.1 x x X _ _ _ _ 1:a _"]
    for dialect in (True, False):
        found, report = read(conllu(*rows), conllu=dialect)
        assert len(found[0][1]) == 3
        assert report.repaired == {"multiword ranges skipped": 1, "empty nodes skipped": 1}


def test_numbers_are_words_in_other_formats() -> None:
    assert one("5.1 CD O\n1-2 CD O\n").columns["0"] == ["5.1", "1-2"]


def test_conllu_ids_must_count() -> None:
    assert refusal(conllu(WORD.format(1), WORD.format("x")), conllu=True) == (
        Reason.SYNTAX,
        "f:2: the id is 'x', wanted 2",
    )
    assert refusal("1\ta\tb\n", conllu=True) == (Reason.LENGTH, "f:1: 3 columns, wanted 10")


@given(st.text(alphabet="#-1. \tab\n\r\0\udce9é=", max_size=60), st.booleans())
def test_any_text_is_read_or_refused_and_never_ragged(text: str, is_conllu: bool) -> None:
    found, report = read(text, conllu=is_conllu)
    assert report.accepted == len(found)
    for _, example in found:
        lengths = {len(column) for column in example.columns.values()} | {len(example.labels or [])}
        assert lengths == {len(example)}
        assert all(example.labels or [])
