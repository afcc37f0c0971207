"""The example configurations: each works as it is, on what its comments promise."""

import json
import shlex
from itertools import islice
from pathlib import Path

import pytest
import typer.main

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.open_examples import open_examples
from streamlearn.cli.main import app
from streamlearn.config.load import load
from streamlearn.errors import RecordError
from streamlearn.stream.record_codec import RecordCodec

ROOT = Path(__file__).parents[1]
CONFIGS = {path.stem: path for path in sorted((ROOT / "configs").glob("*.yaml"))}
DATA = ROOT.parent / "shared" / "data"

# Made-up sequences: the values of each column, then the labels.
SEQUENCES = {
    "address": [
        {"w": "12 Elm St., Oxbow 01234", "labels": "AddressNumber StreetName Type PlaceName ZipCode"},
        {"w": "PO Box 9 Oxbow", "labels": "BoxType BoxType BoxID PlaceName"},
    ],
    "chunking": [
        {"w": "The old cat sleeps .", "pos": "DT JJ NN VBZ .", "labels": "B-NP I-NP I-NP B-VP O"},
        {"w": "Cats sit on mats .", "pos": "NNS VBP IN NNS .", "labels": "B-NP B-VP B-PP B-NP O"},
    ],
    "chunking-np": [
        {"w": "The old cat sleeps .", "pos": "DT JJ NN VBZ .", "labels": "B-NP I-NP I-NP O O"},
        {"w": "Cats chase mice .", "pos": "NNS VBP NNS .", "labels": "B-NP O B-NP O"},
    ],
    "hmm-demo": [
        {"w": "w1 w2 w3 w1", "labels": "a b c a"},
        {"w": "w2 w3", "labels": "b c"},
    ],
    "ner": [
        {"w": "Ada Quill met XR-7 kinase", "labels": "B-person I-person O B-protein I-protein"},
        {"w": "nobody saw Tom in Oxbow", "labels": "O O B-person O B-place"},
    ],
    "pos": [
        {"w": "The cat quickly caught 3 mice", "labels": "DT NN RB VBD CD NNS"},
        {"w": "Dogs bark !", "labels": "NNS VBP ."},
    ],
    "pos-collins": [
        {"w": "The low-cost Boeing flew 3 times", "labels": "DT JJ NNP VBD CD NNS"},
        {"w": "Dogs bark !", "labels": "NNS VBP ."},
    ],
    "segmentation": [
        {"w": "小 猫 在 花 园 里", "labels": "B E S B M E"},
        {"w": "２ ０ 只 猫 。", "labels": "B E S S S"},
    ],
}
BENCHMARKS = [
    ("address", "usaddress"),
    ("chunking", "conll2000"),
    ("chunking-np", "conll2000"),
    ("ner", "jnlpba"),
    ("ner", "wnut17"),
    ("pos", "brown_pos"),
    ("pos", "genia_pos"),
    ("pos", "wsj_sample_pos"),
    ("pos-collins", "brown_pos"),
    ("pos-collins", "wsj_sample_pos"),
    ("segmentation", "msr"),
    ("segmentation", "pku"),
]
PASSES = 20


def comment(name):
    """The lines that a configuration begins with, without their marks."""
    lines = CONFIGS[name].read_text(encoding="utf-8").splitlines()
    return [line[1:] for line in lines[: lines.index(f"model: {name}")]]


def commands(name):
    return [shlex.split(line) for line in comment(name) if line.startswith("   streamlearn ")]


def promised_record(name):
    """The record that the comment shows, as bytes; None if it shows none."""
    text = "".join(line.strip() for line in comment(name) if line.startswith(("   {", "    ")))
    return text.encode() or None


def made_up(name):
    codec = RecordCodec("json")
    for sequence in SEQUENCES[name]:
        columns = {key: values.split() for key, values in sequence.items()}
        yield codec.decode_value(json.dumps({"labels": columns.pop("labels"), "columns": columns}).encode())


def test_every_configuration_is_tried():
    assert set(CONFIGS) == set(SEQUENCES)


@pytest.mark.parametrize("name", CONFIGS)
def test_it_names_its_model_and_its_state_after_itself(name):
    config = load(CONFIGS[name])
    assert config.model == name
    assert config.checkpoint.directory == f"state/{name}"


@pytest.mark.parametrize("name", CONFIGS)
def test_the_commands_in_its_comment_can_be_typed(name):
    known = typer.main.get_command(app).commands
    typed = [arguments for _, *arguments in commands(name)]
    assert {"run", "evaluate"} <= {command for command, *_ in typed}
    for command, *arguments in typed:
        known[command].make_context(command, list(arguments))
        assert all((ROOT / word).is_file() for word in arguments if word.endswith(".yaml"))


@pytest.mark.parametrize("name", CONFIGS)
def test_it_learns_records_such_as_its_comment_promises(name):
    config = load(CONFIGS[name])
    tagger = build_tagger(config)
    examples = list(made_up(name))
    if promised := promised_record(name):
        examples.append(RecordCodec("json").decode_value(promised))
    for _ in range(PASSES):
        tagger.learn_many(examples)
    assert tagger.predict_many(examples) == [tagger.mapped(example.labels) for example in examples]
    assert all(set(config.features.columns) == set(example.columns) for example in examples)
    assert tagger.gauges()["features_refused"] == 0


@pytest.mark.parametrize("name", [name for name in CONFIGS if len(SEQUENCES[name][0]) == 2])
def test_one_column_may_come_as_tokens(name):
    tagger = build_tagger(load(CONFIGS[name]))
    [example, *_] = made_up(name)
    tokens = json.dumps({"tokens": example.columns["w"], "labels": example.labels}).encode()
    for _ in range(PASSES):
        tagger.learn_many([RecordCodec("json").decode_value(tokens)])
    assert tagger.predict_one(example) == example.labels


@pytest.mark.data
@pytest.mark.parametrize(("name", "benchmark"), BENCHMARKS)
def test_it_reads_its_benchmark_as_it_is(name, benchmark):
    path = DATA / benchmark / "train.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there: the benchmark data are not part of the project")

    def fail(error: RecordError) -> None:
        raise error

    config = load(CONFIGS[name])
    located = list(islice(open_examples(config, [str(path)], fail), 200))
    encoded = build_tagger(config).encode([each.example for each in located])
    assert (len(located), encoded.rejected) == (200, [])
