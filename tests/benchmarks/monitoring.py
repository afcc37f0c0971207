"""What watching costs: the time of learning with it, relative to the learner alone.

    python -m tests.benchmarks.monitoring --train ../shared/data/conll2000/train.jsonl.gz

Two models learn the same batches in turns, batch by batch, one of them watched for drift and
convergence; compared are CPU seconds of the two learning threads. What else the machine does slows both.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from streamlearn.app.evaluation import BATCH, batches, open_examples
from streamlearn.app.monitoring import build_watch
from streamlearn.app.tagger import build_tagger
from streamlearn.config.layers import load
from streamlearn.config.shape import Config
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Example
from streamlearn.monitor.progressive import Progressive


def ratio(config: Config, examples: Sequence[Sequence[Example]]) -> float:
    """Give the time of a watched pass in that of one that is not."""
    alone, watched = build_tagger(config), build_tagger(config)
    seconds = 0.0
    with Pipeline(watched, Progressive(), watch=build_watch(config, watched)) as pipeline:
        for part in examples:
            batch = alone.encode(part).batch
            begin = time.thread_time()
            alone.learn_batch(batch)
            seconds += time.thread_time() - begin
            pipeline.submit(watched.encode(part).batch, 0.0)
            pipeline.settle()
        return pipeline.seconds() / seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", default="configs/chunking-np.yaml")
    parser.add_argument("--train", required=True)
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--learners", nargs="+", default=["perceptron", "adf"])
    options = parser.parse_args()
    for kind in options.learners:
        config = load(Path(options.config), [f"learner={{kind: {kind}}}"])
        located = list(open_examples(config, [options.train], on_refused=print))
        examples = [[at.example for at in batch] for batch in batches(located, BATCH)]
        ratio(config, examples[:2])
        found = sorted(ratio(config, examples) for _ in range(options.passes))
        print(
            f"{kind}: watched takes {statistics.median(found):.3f} of the time of the learner alone "
            f"({found[0]:.3f} to {found[-1]:.3f})"
        )


if __name__ == "__main__":
    main()
