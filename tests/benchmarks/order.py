"""Cost and benefit of the template T: first-order against second-order chains.

    python -m tests.benchmarks.order --train ../shared/data/conll2000/train.jsonl.gz

Each learner learns all but the last tenth of the file in one pass and labels the rest. Rates are of one core,
from encoded batches to weights or labels, by the clock of the CPU; the orders take turns, and the best round
counts.
"""

import argparse
import time
from itertools import islice
from pathlib import Path

from streamlearn.app.evaluate import Evaluation
from streamlearn.app.open_examples import open_examples
from streamlearn.config.load import load
from tests.benchmarks.accuracy.tasks import second_order
from tests.benchmarks.throughput import fail


class Contender:
    """One learner of one order, and its best rates so far."""

    def __init__(self, path: Path, kind: str, order: int, files: list[str]) -> None:
        settings = [f"learner.kind={kind}", "learner.replay_tokens=0"]
        if order == 2:
            settings.append(second_order(path))
        self._config = load(path, settings)
        self._located = list(open_examples(self._config, files, fail))
        self.name, self.learned, self.decoded = f"{kind}, order {order}", 0.0, 0.0

    def run(self) -> dict[str, float]:
        """Learn and label again; return the scores."""
        cut = len(self._located) * 9 // 10
        evaluation = Evaluation(self._config, fail)
        tagger, examples = evaluation.tagger, iter([located.example for located in self._located[:cut]])
        learning, tokens = 0.0, 0
        while chunk := list(islice(examples, 1000)):
            batch = tagger.encode(chunk).batch
            begin = time.process_time()
            tagger.learn_batch(batch)
            learning += time.process_time() - begin
            tokens += len(batch.labels)
        self.learned = max(self.learned, tokens / learning)
        batch = tagger.encode([located.example for located in self._located[cut:]], learn=False).batch
        begin = time.process_time()
        tagger.predict_batch(batch)
        self.decoded = max(self.decoded, int(batch.starts[-1]) / (time.process_time() - begin))
        return evaluation.score(iter(self._located[cut:]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", default="configs/chunking.yaml", type=Path)
    parser.add_argument(
        "--train", required=True, nargs="+", help="labelled sequences of the columns that it reads"
    )
    parser.add_argument("--learners", nargs="+", default=["perceptron", "adf"])
    parser.add_argument("--rounds", default=4, type=int, help="the first compiles")
    options = parser.parse_args()
    for kind in options.learners:
        pair = [Contender(options.config, kind, order, options.train) for order in (1, 2)]
        for _ in range(options.rounds):
            reports = [contender.run() for contender in pair]
        for one, report in zip(pair, reports, strict=True):
            named = [(name, report[name]) for name in ("token_accuracy", "f1")]
            scores = [f"{name} {100 * value:.2f}" for name, value in named if value is not None]
            rates = f"learns {one.learned:,.0f} tokens/s, labels {one.decoded:,.0f} tokens/s"
            print(f"{one.name}: {rates}, {', '.join(scores)}")


if __name__ == "__main__":
    main()
