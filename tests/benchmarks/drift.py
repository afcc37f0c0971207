"""The cost of concept drift: in the middle of the stream, every label is replaced by another.

    python -m tests.benchmarks.drift --train ../shared/data/conll2000/train.jsonl.gz --output /tmp/drift

The file is learned once as it is and twice with its labels exchanged, each for the next in alphabetical
order: one stream, each sequence predicted before it is learned. The table gives the share of tokens labelled
right in whole blocks of sequences: the last before the change, the first two after it, then the last of
either pass after it. Written to the output directory as table.md, with the curve (drift.png) if the extra
`study` is there.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from streamlearn.app.evaluate import Evaluation
from streamlearn.app.workers import available_cores, spread
from streamlearn.config.load import load
from streamlearn.config.schema import Config
from streamlearn.corpus.example_reader import Located
from streamlearn.events import Learned
from tests.benchmarks.accuracy.runs import read
from tests.benchmarks.accuracy.tasks import CONFIGS
from tests.reference import table

_ONCE = ("learner.replay_tokens=0",)
_FADING = ("learner.average=exponential", "learner.half_life=1000")

# What of each learner remembers the data before the drift: its averages, or rates that have become small.
LEARNERS: Mapping[str, tuple[str, ...]] = {
    "perceptron, last weights": ("learner.kind=perceptron", "learner.average=none"),
    "perceptron, average of all": ("learner.kind=perceptron", "learner.average=all"),
    "perceptron, exponential average": ("learner.kind=perceptron", *_FADING),
    "adf, rates as published": ("learner.kind=adf", *_ONCE, "learner.min_rate=0"),
    "adf, average of all": ("learner.kind=adf", *_ONCE, "learner.average=all"),
    "adf": ("learner.kind=adf", *_ONCE),
    "adf, growing windows": ("learner.kind=adf", *_ONCE, "learner.growth=1.5"),
    "adagrad": ("learner.kind=adagrad", *_ONCE),
}
BLOCK = 1000


def exchanged(examples: Sequence[Located]) -> Iterator[Located]:
    """Return every label the place of the next, in order of their names."""
    names = sorted({label for located in examples for label in located.example.labels or []})
    follower = dict(zip(names, [*names[1:], *names[:1]], strict=True))
    for located in examples:
        labels = [follower[label] for label in located.example.labels or []]
        yield located._replace(example=replace(located.example, labels=labels))


class Stream:
    """A learner, and the share of tokens that it labelled right before it learned them."""

    def __init__(self, config: Config, block: int) -> None:
        self._evaluation = Evaluation(config, _fail)
        self._block = block

    def mapped(self, located: Located) -> Located:
        """Return the sequence with the labels of the model."""
        labels = self._evaluation.tagger.mapped(located.example.labels or [])
        return located._replace(example=replace(located.example, labels=labels))

    def learn(self, examples: Iterable[Located]) -> list[float]:
        """Return the share in each whole block of sequences."""
        found: list[Learned] = []
        self._evaluation.learn(examples, found.append, self._block)
        whole = [learned for learned in found if learned.sequences == self._block]
        return [1 - int(learned.wrong.sum()) / learned.tokens for learned in whole]


def _fail(error: Exception) -> None:
    raise error


def work(shared: tuple[Path, Path, int], learner: str) -> list[list[float]]:
    """Learn the file, then twice with exchanged labels; return the blocks of each pass."""
    path, train, block = shared
    config = load(path, LEARNERS[learner])
    stream = Stream(config, block)
    examples = [stream.mapped(located) for located in read(config, train)]
    return [stream.learn(examples), *(stream.learn(exchanged(examples)) for _ in range(2))]


def row(learner: str, found: Sequence[Sequence[float]]) -> tuple[str, ...]:
    """Return the row of a learner."""
    before, after, later = found
    told = (before[-1], after[0], after[1], after[-1], later[-1])
    return (learner, *(f"{100 * share:.1f}" for share in told))


def draw(path: Path, curves: Mapping[str, Sequence[float]], block: int, change: int, title: str) -> None:
    """Write a PNG of the share of tokens labelled right against the sequences learned.

    Parameters
    ----------
    curves : by learner, the share in each block of `block` sequences.
    change : sequences before the drift, where a dotted line is drawn.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 4.5))
    for learner, shares in curves.items():
        ends = [block * (number + 1) for number in range(len(shares))]
        axis.plot(ends, [100 * share for share in shares], label=learner)
    axis.axvline(change, color="black", linestyle=":")
    axis.set(
        title=title,
        xlabel="sequences learned",
        ylabel=f"tokens right in the last {block:,}, %",
    )
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write it and the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--train", required=True, type=Path, help="the file that is learned")
    parser.add_argument("--config", default=CONFIGS / "chunking-np.yaml", type=Path)
    parser.add_argument("--output", required=True, type=Path, help="directory of the table and the curve")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--block", default=1000, type=int, help="sequences in a block (default 1000)")
    parser.add_argument("--jobs", default=available_cores(), type=int, help="processes (default: all cores)")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    shared = (options.config, options.train, options.block)
    by_learner = dict(spread(work, shared, options.learners, options.jobs))
    found = {learner: by_learner[learner] for learner in options.learners}
    head = ("learner", "before", "first block after", "second block", "end of the pass", "end of the next")
    text = table(head, [row(learner, passes) for learner, passes in found.items()])
    (options.output / "table.md").write_text(text)
    print(text, end="")
    if find_spec("matplotlib"):
        curves = {learner: [share for part in parts for share in part] for learner, parts in found.items()}
        change = options.block * len(next(iter(found.values()))[0])
        title = "Labels are exchanged at the dotted line"
        draw(options.output / "drift.png", curves, options.block, change, title)


if __name__ == "__main__":
    main()
