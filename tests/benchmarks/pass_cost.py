"""Update cost of one learner compared with another: alternating learning passes in one process.

    python -m tests.benchmarks.pass_cost --train ../shared/data/conll2000/train.jsonl.gz \\
        --set learner.kind=swvp --set learner.substructures=single

Both learn the same encoded batches; what is compared are medians, which mean something on a busy machine too.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.app.evaluate import batches
from streamlearn.app.open_examples import open_examples
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located

CSP = ("learner.kind=perceptron", "learner.replay_tokens=0")


def seconds(config: Config, examples: Sequence[Located]) -> float:
    """Time one pass, of features, prediction and update."""
    tagger = build_tagger(config)
    encoded = [tagger.encode([located.example for located in batch]).batch for batch in batches(examples)]
    begin = time.process_time()
    for batch in encoded:
        tagger.learn_batch(batch)
    return time.process_time() - begin


def fail(error: Exception) -> None:
    """Raise an error for any invalid record in a file."""
    raise error


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", default="configs/chunking-np.yaml", type=Path)
    parser.add_argument("--train", required=True, help="labelled sequences that the configuration fits")
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--set", action="append", required=True, help="setting of the learner")
    parser.add_argument("--against", action="append", help="of the other (default: the averaged perceptron)")
    options = parser.parse_args()
    chosen = ["learner.replay_tokens=0", *options.set], options.against or list(CSP)
    configs = [load(options.config, settings) for settings in chosen]
    examples = list(open_examples(configs[0], [options.train], fail))
    for config in configs:
        warm_up(config, print)
    ratios = []
    for _ in range(options.rounds):
        one, other = (seconds(config, examples) for config in configs)
        ratios.append(one / other)
        print(f"{one:.3f} s against {other:.3f} s: {ratios[-1]:.2f}")
    print(f"median {median(ratios):.2f}")


if __name__ == "__main__":
    main()
