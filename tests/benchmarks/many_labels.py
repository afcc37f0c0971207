"""Memory and speed of learning with many labels and features of pairs of them.

    python -m tests.benchmarks.many_labels --data ../shared/data --labels 1000

The most frequent tags of the Brown corpus are divided by a checksum of the word, until there are as many
labels as wanted.
"""

import argparse
import json
import resource
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamlearn.app.build_tagger import build_tagger, warm_up
from streamlearn.app.evaluate import batches, open_examples
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.data import Example
from tests.benchmarks.pass_cost import fail

TEMPLATES = "U00:%x[0,w]\nB01:%x[0,w]\nB"
# A frequent tag becomes as many labels.
_PARTS = 8


def config_for(kind: str, memory: str) -> Config:
    """Return a configuration with features of pairs, otherwise of defaults."""
    return Config.model_validate(
        {
            "model": "many",
            "source": {"topics": ["many"]},
            "features": {"columns": ["w"], "templates": TEMPLATES, "memory": memory},
            "learner": {"kind": kind},
        }
    )


def divided(examples: Sequence[Example], labels: int) -> Iterator[Example]:
    """Yield the examples with `labels` labels, or one less than `_PARTS` more."""
    counts = Counter(label for example in examples for label in example.labels or ())
    extra = max(0, labels - len(counts))
    large = {tag for tag, _ in counts.most_common(-(-extra // (_PARTS - 1)))}
    for example in examples:
        words = example.columns["w"]
        yield Example(
            {"w": words},
            [
                f"{tag}/{zlib.crc32(word.encode()) % _PARTS}" if tag in large else tag
                for word, tag in zip(words, example.labels or (), strict=True)
            ],
        )


def measured(examples: Sequence[Example], kind: str, memory: str, labels: int) -> dict[str, object]:
    """Learn in one pass; return what it took."""
    config = config_for(kind, memory)
    warm_up(config, print)
    tagger = build_tagger(config)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin, tokens, right, rejected = time.process_time(), 0, 0, 0
    located = (Located(example, "", place) for place, example in enumerate(divided(examples, labels)))
    for batch in batches(located):
        encoded = tagger.encode([each.example for each in batch])
        rejected += len(encoded.rejected)
        outcome = tagger.learn_batch(encoded.batch)
        right += int((outcome.predicted == encoded.batch.labels).sum())
        tokens += len(encoded.batch.labels)
    gauges = tagger.gauges()
    return {
        "learner": kind,
        "labels": int(gauges["labels_known"]),
        "tokens": tokens,
        "rejected": rejected,
        "refused": int(gauges["features_refused"]),
        "accuracy before learning": round(right / tokens, 4),
        "tokens per CPU second": round(tokens / (time.process_time() - begin)),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "MiB before": before // 1024,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--labels", default=1000, type=int)
    parser.add_argument("--learner", default="perceptron")
    parser.add_argument("--memory", default="1536MiB")
    parser.add_argument("--sequences", type=int, help="of the training data (default: all)")
    options = parser.parse_args()
    train = str(options.data / "brown_pos" / "train.jsonl.gz")
    found = open_examples(config_for(options.learner, options.memory), [train], fail)
    examples = [located.example for located in found][: options.sequences]
    print(json.dumps(measured(examples, options.learner, options.memory, options.labels)))


if __name__ == "__main__":
    main()
