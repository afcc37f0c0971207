"""What watching costs: the time of a pass of learning with it, relative to the learner alone.

    python -m tests.benchmarks.monitoring --train ../shared/data/conll2000/train.jsonl.gz

Both learn the same encoded batches in turns, each from nothing; printed is the ratio of the fastest turns,
and the median of the ratios of neighbouring ones. CPU seconds of the learning thread are compared, so that
a busy machine matters less.
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


def alone(config: Config, examples: Sequence[Sequence[Example]]) -> float:
    """Give the seconds that the learner takes."""
    tagger = build_tagger(config)
    encoded = [tagger.encode(batch).batch for batch in examples]
    begin = time.thread_time()
    for batch in encoded:
        tagger.learn_batch(batch)
    return time.thread_time() - begin


def watched(config: Config, examples: Sequence[Sequence[Example]]) -> float:
    """Give the seconds of the same with drift and convergence, which are watched on the learning thread."""
    tagger = build_tagger(config)
    encoded = [tagger.encode(batch).batch for batch in examples]
    with Pipeline(tagger, Progressive(), watch=build_watch(config, tagger)) as pipeline:
        for batch in encoded:
            pipeline.submit(batch, 0.0)
            pipeline.settle()
        return pipeline.seconds()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", default="configs/chunking-np.yaml")
    parser.add_argument("--train", required=True)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--learners", nargs="+", default=["perceptron", "adf"])
    options = parser.parse_args()
    for kind in options.learners:
        config = load(Path(options.config), [f"learner={{kind: {kind}}}"])
        located = list(open_examples(config, [options.train], on_refused=print))
        examples = [[at.example for at in batch] for batch in batches(located, BATCH)]
        alone(config, examples[:2]), watched(config, examples[:2])
        pairs = [(alone(config, examples), watched(config, examples)) for _ in range(options.turns)]
        median = statistics.median(after / before for before, after in pairs)
        before, after = (min(times) for times in zip(*pairs, strict=True))
        print(
            f"{kind}: with watching {after / before:.3f} of the time without, {median:.3f} in the median turn"
        )


if __name__ == "__main__":
    main()
