"""Whatever a file of sequences holds, reading it ends with sequences, refusals or a UsageError."""

import gzip

from hypothesis import given, settings
from hypothesis import strategies as st

from streamlearn.corpus.column_layout import ColumnLayout
from streamlearn.corpus.example_reader import ExampleReader
from streamlearn.errors import Reason, UsageError
from streamlearn.stream.record_codec import RecordCodec
from tests.fuzz.hostile import MIB, bounded_memory, damaged, one_line_of

COLUMNS = [
    b"He PRP B-NP\nreckons VBZ B-VP\n\nthe DT B-NP\n",
    b"-DOCSTART- -X- O O\n\nEU\tB\r\nrejects\tO\r\n",
    b"# sent_id = 1\n1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n",
    "\ufeffa B\n\u00e9\u00a0b O\n".encode(),
    "a B\nb O\n".encode("utf-16"),
]
LINES = [
    b'{"tokens": ["New", "York"], "labels": ["B", "I"]}\n{"tokens": []}\n',
    b'\xef\xbb\xbf{"features": [["a"]]}\n',
]
PIECES = [
    *(
        b"\n",
        b"\r",
        b"\n\n",
        b"\t",
        b" ",
        b"#",
        b"\0",
        b"\xff\xfe",
        b"\x1f\x8b",
        b"\xed\xa0\x80",
        b"-DOCSTART-",
        b"{",
        b"a " * 500,
    )
]
LAYOUTS = st.builds(
    ColumnLayout,
    names=st.none() | st.just(("w", "_")),
    label=st.sampled_from(["auto", "last", "none"]),
    separator=st.sampled_from(["auto", "tab", "whitespace"]),
    header=st.booleans(),
    require_labels=st.booleans(),
    max_tokens=st.sampled_from([2, 50]),
)


@given(
    damaged(COLUMNS + LINES + [gzip.compress(data) for data in COLUMNS + LINES], PIECES),
    st.sampled_from(["f.txt", "f.jsonl", "f.conllu", "f.gz", "f"]),
    st.sampled_from(["auto", "json", "columns"]),
    LAYOUTS,
    st.sampled_from(["auto", "utf-8", "utf-16", "utf-32", "latin-1", "utf-7", "cp1252", "punycode", "idna"]),
)
@settings(deadline=None, max_examples=150)
def test_a_file_is_read_or_refused(tmp_path, data, name, form, layout, encoding):
    path = tmp_path / name
    path.write_bytes(data)
    codec = RecordCodec("json", max_tokens=50, max_bytes=1000)
    with bounded_memory(16 * MIB), one_line_of(UsageError):
        reader = ExampleReader([str(path)], form=form, layout=layout, codec=codec, encoding=encoding)
        for located in reader:
            assert len(located.example)


def test_a_small_file_that_unpacks_to_one_endless_sequence_is_refused(tmp_path):
    path = tmp_path / "f.gz"
    with gzip.open(path, "wb", 1) as file:
        for _ in range(100):
            file.write(b"a" * 1_000_000 + b" B\n")
        file.write(b"\nthe O\n")
    reader = ExampleReader([str(path)])
    with bounded_memory(64 * MIB):
        assert [located.example.labels for located in reader] == [["O"]]
    assert reader.refused == {Reason.TOO_LARGE: 1}
