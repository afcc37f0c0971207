"""JNLPBA with parts of speech from taggers that streamlearn trained on GENIA, none on what it tags.

The training set of JNLPBA is the very text that GENIA tags: a tagger that had learned it would give it better
tags than any test set gets. So each part of it is tagged by a tagger that learned the other parts; equal
sentences are in the same part.
"""

import gzip
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from zlib import crc32

from streamlearn.app.evaluate import BATCH, Evaluation, batches
from streamlearn.app.workers import spread
from streamlearn.config.load import load
from streamlearn.corpus.example_reader import Located
from streamlearn.data import Example
from streamlearn.stream.record_codec import encode
from tests.benchmarks.accuracy.runs import read
from tests.benchmarks.accuracy.tasks import CONFIGS

PARTS = 5
# The tagger that learns all of the training set, for the test set.
ALL = -1


def part_of(example: Example) -> int:
    """Return the part that a sentence belongs to."""
    return crc32("\n".join(example.columns["w"]).encode()) % PARTS


def tag_jnlpba(data: Path, output: Path, processes: int) -> None:
    """Write train.jsonl.gz and test.jsonl.gz with the column `pos` to `output`, unless they are there."""
    done = output / "test.jsonl.gz"
    if done.exists():
        return
    output.mkdir(parents=True, exist_ok=True)
    tags: dict[int, list[list[str]]] = {}
    for part, (accuracy, found) in spread(tag_part, data, [*range(PARTS), ALL], processes):
        if part == ALL:
            print(f"tagger: {100 * accuracy:.2f} % of the tokens of GENIA's test set", file=sys.stderr)
        tags[part] = found
    columns = {part: iter(found) for part, found in tags.items()}
    _write(data, output / "train.jsonl.gz", lambda example: next(columns[part_of(example)]))
    _write(data, done, lambda _: next(columns[ALL]))


def tag_part(data: Path, part: int) -> tuple[float, list[list[str]]]:
    """Learn what is not in `part`, and tag what is; all and the test set for ALL.

    Returns
    -------
    Token accuracy on GENIA's test set, and the tags of each sentence of JNLPBA.
    """
    config = load(CONFIGS / "pos.yaml")
    evaluation = Evaluation(config, _fail)
    genia = data / "genia_pos"
    train = read(config, genia / "train.jsonl.gz")
    evaluation.learn(located for located in train if part_of(located.example) != part)
    accuracy = evaluation.score(read(config, genia / "test.jsonl.gz"))["token_accuracy"]
    name = "test" if part == ALL else "train"
    wanted = read(config, data / "jnlpba" / f"{name}.jsonl.gz")
    if part != ALL:
        wanted = (located for located in wanted if part_of(located.example) == part)
    return accuracy, list(_tagged(evaluation, wanted))


def _tagged(evaluation: Evaluation, sentences: Iterator[Located]) -> Iterator[list[str]]:
    for batch in batches(sentences, BATCH):
        yield from evaluation.tagger.predict_many([located.example for located in batch])


def _write(data: Path, path: Path, tags: Callable[[Example], list[str]]) -> None:
    source = data / "jnlpba" / path.name
    # Renamed at the end: an interrupted study must not find half of it.
    unfinished = path.with_suffix(".part")
    with gzip.open(unfinished, "wb") as file:
        for located in read(load(CONFIGS / "ner.yaml"), source):
            columns = {**located.example.columns, "pos": tags(located.example)}
            file.write(encode(replace(located.example, columns=columns), "json") + b"\n")
    unfinished.rename(path)


def _fail(error: Exception) -> None:
    raise error
