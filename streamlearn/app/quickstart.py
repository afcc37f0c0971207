"""The files of a first hour: sequences to learn from and to test on, and a configuration."""

import random
from collections.abc import Iterator
from pathlib import Path

from streamlearn.data import Example
from streamlearn.errors import UsageError
from streamlearn.samples import address, chunking, ner
from streamlearn.samples.grammar import Grammar
from streamlearn.stream.record_codec import encode

SAMPLES: dict[str, tuple[Grammar, str]] = {
    "ner": (ner.GRAMMAR, ner.CONFIG),
    "chunking": (chunking.GRAMMAR, chunking.CONFIG),
    "address": (address.GRAMMAR, address.CONFIG),
}
_TRAIN, _TEST = 4000, 500


def write_quickstart(sample: str, directory: Path, seed: int = 0) -> list[Path]:
    """Write a configuration, ``train.jsonl`` and ``test.jsonl`` of a sample, and return their paths.

    The test set has no sequence that the train set has.

    Raises
    ------
    UsageError : one of the files exists already; nothing was written.
    """
    grammar, config = SAMPLES[sample]
    paths = [directory / f"{sample}.yaml", directory / "train.jsonl", directory / "test.jsonl"]
    for path in paths:
        if path.exists():
            raise UsageError(f"{path}: exists already; choose another directory with --directory")
    directory.mkdir(parents=True, exist_ok=True)
    lines = _distinct(grammar, random.Random(seed))  # noqa: S311 - not for secrets
    paths[0].write_text(config)
    for path, count in zip(paths[1:], (_TRAIN, _TEST), strict=True):
        path.write_bytes(b"".join(next(lines) + b"\n" for _ in range(count)))
    return paths


def _distinct(grammar: Grammar, rng: random.Random) -> Iterator[bytes]:
    seen = set()
    while True:
        example: Example = grammar.draw(rng)
        line = encode(example, "json")
        if line not in seen:
            seen.add(line)
            yield line
