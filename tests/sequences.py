"""Labelled sequences that tests make for themselves."""

import gzip
import json
from pathlib import Path

import numpy as np

from streamlearn.data import Example

COLUMNS = ("w", "pos")
TEMPLATES = "U00:%x[0,w]\nU01:%x[-1,w]/%x[0,pos]\n*02:%x[0,pos]\nB\n"


def make_examples(count: int, seed: int = 0, labels: int = 4) -> list[Example]:
    """Make sequences in which the word mostly decides the label."""
    rng = np.random.default_rng(seed)
    examples = []
    for number in range(count):
        length = int(rng.integers(1, 12))
        words = rng.integers(0, 60, length)
        noise = rng.integers(0, labels, length) * (rng.random(length) < 0.1)
        marks = (words + noise) % labels
        examples.append(
            Example(
                columns={"w": [f"w{w}" for w in words], "pos": [f"p{w % 7}" for w in words]},
                labels=[("O", "B-X", "I-X", "B-Y", "I-Y", "B-Z")[mark] for mark in marks],
                id=f"s{number}",
            )
        )
    return examples


def to_json(example: Example) -> bytes:
    """Write an example as a record's value."""
    payload = {"columns": dict(example.columns), "labels": example.labels, "id": example.id}
    return json.dumps(payload).encode()


def write_jsonl(path: Path, examples: list[Example]) -> Path:
    """Write examples as gzipped JSON Lines."""
    with gzip.open(path, "wb") as file:
        file.writelines(to_json(example) + b"\n" for example in examples)
    return path


def write_config(path: Path, **sections: object) -> Path:
    """Write a configuration for these sequences; JSON is YAML."""
    features = {"columns": COLUMNS, "templates": TEMPLATES, "max_features": 5000, "max_edge_features": 500}
    path.write_text(json.dumps({"model": "test", "features": features, **sections}))
    return path
