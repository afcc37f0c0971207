"""Duration of the pause in learning for a checkpoint.

    python -m tests.benchmarks.pause --weights 10_000_000 --checkpoints 100

learns sequences of made-up words with a learner of that many weights, copies the state after every few
batches while the one before is written to a temporary directory, and prints the pauses in milliseconds,
and how much of them the processor worked: the rest went to other processes. In turns with
them it measures a copy into newly allocated memory.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from streamlearn.app.build_tagger import build_tagger
from streamlearn.checkpoint.copier import Copier
from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.state import Checkpoint
from streamlearn.checkpoint.writer import BackgroundWriter
from streamlearn.config.schema import Config
from streamlearn.data import Example, StreamIdentity
from streamlearn.learners.tagger import Tagger

LABELS = 22
LENGTH = 20
BATCH = 200


def sequences(count: int, words: int, seed: int) -> list[Example]:
    """Return sequences of uniformly distributed words: the worst case for caches and copies."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        numbers = rng.integers(0, words, LENGTH)
        made.append(Example({"w": [f"w{n}" for n in numbers]}, [f"L{n % LABELS}" for n in numbers]))
    return made


def grown(weights: int, learner: str) -> Tagger:
    """Return a tagger that has seen enough words to have about that many weights."""
    rows = weights // LABELS
    features = {"columns": ["w"], "templates": "U00:%x[0,w]\nB\n", "max_features": 2 * rows}
    tagger = build_tagger(Config.model_validate({"features": features, "learner": {"kind": learner}}))
    for start in range(0, rows, LENGTH * BATCH):
        words = [f"w{n}" for n in range(start, start + LENGTH * BATCH)]
        parts = [words[at : at + LENGTH] for at in range(0, len(words), LENGTH)]
        tagger.learn_many([Example({"w": part}, [f"L{int(w[1:]) % LABELS}" for w in part]) for part in parts])
    return tagger


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the largest, in milliseconds."""
    found = np.percentile(seconds, [50, 99, 100]) * 1000
    return dict(zip(("p50_ms", "p99_ms", "max_ms"), found.round(1).tolist(), strict=True))


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=int, default=10_000_000)
    parser.add_argument("--checkpoints", type=int, default=100)
    parser.add_argument("--learner", default="adf")
    options = parser.parse_args()
    tagger = grown(options.weights, options.learner)
    batches = [tagger.encode(sequences(BATCH, options.weights // LABELS, seed)).batch for seed in range(5)]
    copier = Copier()
    copier.copy(tagger.view())
    reused, worked, fresh = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        store = CheckpointStore(Path(folder))
        with store.lock():
            writer = BackgroundWriter(store)
            for seq in range(options.checkpoints):
                for batch in batches:
                    tagger.learn_batch(batch)
                begin, begin_work = time.perf_counter(), time.thread_time()
                model = copier.copy(tagger.view())
                reused.append(time.perf_counter() - begin)
                worked.append(time.thread_time() - begin_work)
                writer.submit(checkpoint(seq, model))
                for batch in batches:
                    tagger.learn_batch(batch)
                if seq % 10 == 0:
                    begin = time.perf_counter()
                    tagger.state()
                    fresh.append(time.perf_counter() - begin)
                writer.drain(600)
            writer.close(600)
    learner = model["learner"]["weights"]
    print(
        json.dumps(
            {
                "learner": options.learner,
                "state_bytes": sum(array.nbytes for array in learner.values()),
                "pause": percentiles(reused),
                "of_which_work": percentiles(worked),
                "into_new_memory": percentiles(fresh),
            }
        )
    )


def checkpoint(seq: int, model: dict[str, object]) -> Checkpoint:
    """Return a checkpoint of a model."""
    return Checkpoint("pause", "run", seq, time.time(), "0", "digest", {}, StreamIdentity(), {}, 0, {}, model)


if __name__ == "__main__":
    main()
