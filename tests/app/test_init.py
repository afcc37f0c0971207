"""A first configuration for files of all kinds, and the path from a file to predictions without Kafka."""

import json
from pathlib import Path

import pytest
import yaml

from streamlearn.app.first_config import FirstConfig, describe_scheme, fitting
from streamlearn.app.init import _look
from streamlearn.app.open_examples import TextFormat
from streamlearn.config.schema import Config
from streamlearn.errors import UsageError
from tests.cli.command import streamlearn
from tests.sequences import make_examples, write_jsonl

ROW = "{}\t{}\t{}\tADJ\tJJ\t_\t{}\tdep\t_\t_\n"
CONLLU = "# sent_id = 1\n" + ROW.format(1, "Sanal", "sanal", 2) + "2-3\tparçacıklarsa" + "\t_" * 8 + "\n"
CONLLU += (
    ROW.format(2, "parça", "parça", 0) + "2.1\tgo" + "\t_" * 8 + "\n" + ROW.format(3, "sa", "i", 2) + "\n"
)


def look(
    folder: Path, content: str | bytes, name: str = "a.tsv", **options: object
) -> tuple[FirstConfig, TextFormat]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, text_format = _look(str(path), TextFormat(**options), lambda _: None)  # type: ignore[arg-type]
    first = fitting("a", name, found)
    assert describe_scheme(found, first.constrain)
    Config.model_validate(yaml.safe_load(first.text()))
    return first, text_format


@pytest.mark.parametrize(
    ("rows", "constrain"),
    [
        ("EU\tB-ORG\nBank\tI-ORG\nsaid\tO\n\n", "bio"),
        ("EU\tI-ORG\nsaid\tO\n\n", "none"),
        ("EU\tB-ORG\nBank\tE-ORG\nsaid\tO\n\n", "iobes"),
        ("上\tB\n海\tE\n人\tS\n\n", "iobes"),
        ("the\tDT\ndog\tNN\n\n", "none"),
        ("a\tO\n\n", "none"),
        (":\t:\nx\tNN\n\n", "none"),
    ],
)
def test_the_scheme_is_the_one_in_which_all_labellings_are_valid(
    tmp_path: Path, rows: str, constrain: str
) -> None:
    assert look(tmp_path, rows)[0].constrain == constrain


def test_numbers_of_tokens_are_no_words_and_no_features(tmp_path: Path) -> None:
    rows = "".join(f"1 w{n} NNP I-NP I-ORG\n2 says{n} VBZ I-VP O\n\n" for n in range(30))
    first, _ = look(tmp_path, rows)
    assert first.columns == ("c0", "w", "c2", "c3")
    assert "c0" not in "".join(first.templates)
    assert {"%x[0,w]", "%x[0,c2]", "%x[0,c3]"} <= {line.partition(":")[2] for line in first.templates}


def test_names_in_the_first_row_are_recognized_and_kept_where_yaml_allows(tmp_path: Path) -> None:
    first, text_format = look(
        tmp_path, "word\tno\tx y\tner_tag\n" + "EU\tNNP\ta\tB-ORG\nsaid\tVBZ\ta\tO\n\n" * 20
    )
    assert text_format.header
    assert first.columns == ("word", "no", "x y")
    assert "%x[0,2]" in "".join(first.templates)


@pytest.mark.parametrize("name", ["a.conllu", "a.txt"])
def test_conllu_is_labelled_from_its_forms(tmp_path: Path, name: str) -> None:
    first, _ = look(tmp_path, CONLLU * 12, name)
    assert (first.columns, first.size) == (("form",), "12 sequences with 36 tokens, 1 labels")
    assert look(tmp_path, CONLLU * 12, name, label_column="deprel")[0].columns == ("form",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("EU,B-ORG\nsaid,O\n\n", "separated by ',', wanted tabs or spaces"),
        ("EU;B-ORG\nsaid;O\n\n", "separated by ';', wanted tabs or spaces"),
        ("\n\n", "it is empty"),
        ("a B x\nb\n\n", "all were rejected, for the reasons above"),
    ],
)
def test_a_file_without_any_sequence_is_refused_with_the_reason(
    tmp_path: Path, content: str, reason: str
) -> None:
    with pytest.raises(UsageError, match=f"a.tsv: no labelled sequence in it; .*{reason}"):
        look(tmp_path, content)


def test_another_encoding_is_read(tmp_path: Path) -> None:
    first, _ = look(tmp_path, "عربي\tN\tB\n\n".encode("cp1256"), encoding="cp1256")
    assert first.size == "1 sequences with 1 tokens, 1 labels"


def test_ready_made_features_need_no_templates(tmp_path: Path) -> None:
    first, _ = look(tmp_path, '{"features": [["w=a"], ["w=b"]], "labels": ["O", "B"]}\n', "a.jsonl")
    assert (first.columns, first.templates) == ((), ())


def test_from_a_file_to_predictions_without_kafka(tmp_path: Path) -> None:
    data, config, models = (
        write_jsonl(tmp_path / "a.jsonl.gz", make_examples(60)),
        tmp_path / "a.yaml",
        tmp_path / "m",
    )
    done = streamlearn("init", data, "-o", config)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "60 sequences" in text
    score = text.partition("labels the last tenth with ")[2].partition("\n")[0]
    assert score.startswith("F1 0.")
    assert score in config.read_text()
    assert streamlearn("init", data, "-o", config).returncode == 64
    for _ in range(2):
        done = streamlearn("evaluate", config, "--train", data, "--save", models)
        assert done.returncode == 0, done.stderr
    assert len(list(models.glob("*.slcp"))) == 2
    done = streamlearn("predict", models, data)
    assert [len(json.loads(line)["labels"]) for line in done.stdout.splitlines()] == list(
        map(len, make_examples(60))
    )
