"""The cost of monitoring: learning time with it, relative to the learner alone.

    python -m tests.benchmarks.monitoring --train ../shared/data/conll2000/train.jsonl.gz

Two models learn the same batches in turns, batch by batch; one of them is scored, watched for drift and
convergence, and its metrics, status and history are kept. Compared are CPU seconds: of the learning threads,
by which a daemon with a second core is bound, and of all threads, from examples in memory to weights. What
else the machine does makes a batch slower, never faster: of each, the fastest of all passes counts.
"""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamlearn.app.build_tagger import build_tagger
from streamlearn.app.drift_watch import build_watch
from streamlearn.app.evaluate import BATCH, batches
from streamlearn.app.open_examples import open_examples
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.daemon.learning_state import LearningState
from streamlearn.daemon.pipeline import Pipeline
from streamlearn.data import Example
from streamlearn.monitor.history import History
from streamlearn.telemetry.metrics import Metrics
from streamlearn.telemetry.status import Status


def seconds(config: Config, examples: Sequence[Sequence[Example]]) -> NDArray[np.float64]:
    """Return float64[batches, 2, 2]: alone and watched, of the learning thread and of all."""
    alone, watched = build_tagger(config), build_tagger(config)
    history = History()
    metrics = Metrics(version="", model=config.model, learner=config.learner.kind, digest="")
    observers = (metrics, Status({}, lambda: history.curve(100), lambda: history.drifts), history)
    found = []
    with (
        ThreadPoolExecutor(1) as learner,
        Pipeline(LearningState(watched, build_watch(config, watched))) as pipeline,
    ):
        for part in examples:
            clocks = [_clocks(learner, pipeline)]
            learner.submit(alone.learn_batch, alone.encode(part).batch).result()
            clocks.append(_clocks(learner, pipeline))
            pipeline.submit(watched.encode(part).batch, 0.0)
            if event := pipeline.settle():
                for observe in observers:
                    observe(event)
            clocks.append(_clocks(learner, pipeline))
            found.append(np.diff(clocks, axis=0))
    return np.array(found)


def _clocks(learner: ThreadPoolExecutor, pipeline: Pipeline) -> tuple[float, float]:
    learning = learner.submit(time.thread_time).result() + pipeline.seconds()
    return learning, learning + time.thread_time()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", default="configs/chunking-np.yaml")
    parser.add_argument("--train", required=True)
    parser.add_argument("--passes", type=int, default=15)
    parser.add_argument("--learners", nargs="+", default=["perceptron", "adf"])
    options = parser.parse_args()
    for kind in options.learners:
        config = load(Path(options.config), [f"learner={{kind: {kind}}}"])
        located = list(open_examples(config, [options.train], print))
        examples = [[at.example for at in batch] for batch in batches(located, BATCH)]
        passes = [seconds(config, examples) for _ in range(1 + options.passes)][1:]
        alone, watched = np.min(passes, axis=0).sum(axis=0)
        learning, everything = watched / alone
        print(
            f"{kind}: watched takes {learning:.3f} of the learning thread's time alone "
            f"({1000 * alone[0]:.0f} ms), {everything:.3f} of all threads' ({1000 * alone[1]:.0f} ms)"
        )


if __name__ == "__main__":
    main()
