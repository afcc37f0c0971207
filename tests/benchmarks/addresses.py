"""Drift detection on addresses whose source changes, and the benefit of reacting to it.

    python -m tests.benchmarks.addresses --output /tmp/study --train ../shared/data/usaddress/train.jsonl.gz

The file is learned once in its order: lines that people wrote and labelled, then, from the first on whose
`src` says synthetic, lines that a program made of a map; and once with both parts exchanged. Each learner
goes through it as it is and with what can be done about a change. The tables give the share of tokens
labelled right before they were learned, in blocks around the change and in all after it; how many sequences
after the change each detector first saw a rise, and of what; and how many rises were seen before it. Written
to the output directory as table.md, with the curves (easier.png, harder.png) if the extra `study` is there.
"""

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from streamlearn.app.evaluate import Evaluation
from streamlearn.app.workers import available_cores, spread
from streamlearn.config.load import load
from streamlearn.corpus.example_reader import Located
from streamlearn.events import Drift, Learned
from tests.benchmarks.accuracy.runs import read
from tests.benchmarks.accuracy.tasks import CONFIGS
from tests.benchmarks.drift import draw
from tests.reference import table

_ADF = ("learner={kind: adf}",)
_FADING = ("learner.average=exponential", "learner.half_life=1000")

LEARNERS: Mapping[str, tuple[str, ...]] = {
    "perceptron, average of all": (),
    "perceptron, new average at a drift": ("drift.actions=[reset_average]",),
    "perceptron, exponential average": _FADING,
    "adf": _ADF,
    "adf, new rates at a drift": (*_ADF, "drift.actions=[rewarm]"),
}


_WATCH = ("drift.detectors=[adwin, page_hinkley, kswin]", "drift.quantum=20")


_HEAD = (
    "learner", "last block before", "first after", "second after", "all after", "rises seen", "before",
)  # fmt: skip


class Run(NamedTuple):
    """Tokens, and how many were labelled right, in each block of the stream; what detectors saw."""

    tokens: list[int]
    right: list[int]
    drifts: list[Drift]

    def share(self, first: int, last: int | None) -> float:
        """Return the share of tokens labelled right in some blocks."""
        return sum(self.right[first:last]) / sum(self.tokens[first:last])


def parts_of(path: Path, examples: Sequence[Located]) -> tuple[Sequence[Located], Sequence[Located]]:
    """Return the lines that people wrote, and those from the first on that a program made."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        first = next(n for n, line in enumerate(lines) if "synthetic" in json.loads(line).get("src", ""))
    return examples[:first], examples[first:]


def work(shared: tuple[Path, Path, int, tuple[str, ...]], task: tuple[str, bool]) -> tuple[Run, int]:
    """Learn the file once, optionally its second part first; also return where the change is."""
    path, train, block, settings = shared
    learner, is_turned = task
    config = load(path, [*_WATCH, *LEARNERS[learner], *settings])
    parts = parts_of(train, list(read(config, train)))
    before, after = reversed(parts) if is_turned else parts
    found = list[Learned]()
    Evaluation(config, _fail).learn([*before, *after], found.append, block)
    run = Run(
        [learned.tokens for learned in found],
        [learned.tokens - int(learned.wrong.sum()) for learned in found],
        [drift for learned in found for drift in learned.drifts],
    )
    return run, len(before)


def _fail(error: Exception) -> None:
    raise error


def row(learner: str, run: Run, block: int, change: int) -> tuple[str, ...]:
    """Return the row of a learner; the block that contains the change is left out."""
    before, after = change // block, -(-change // block)
    places = ((before - 1, before), (after, after + 1), (after + 1, after + 2), (after, None))
    first: dict[str, Drift] = {}
    for drift in run.drifts:
        if drift.sequence > change:
            first.setdefault(drift.detector, drift)
    seen = ", ".join(f"{name} {drift.sequence - change} ({drift.signal})" for name, drift in first.items())
    early = sum(drift.sequence <= change for drift in run.drifts)
    return (learner, *(f"{100 * run.share(*place):.1f}" for place in places), seen, str(early))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write it and the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--train", required=True, type=Path, help="the file that is learned")
    parser.add_argument("--config", default=CONFIGS / "address.yaml", type=Path)
    parser.add_argument("--output", required=True, type=Path, help="directory of the table and the curves")
    parser.add_argument("--block", default=200, type=int, help="sequences in a block (default 200)")
    parser.add_argument("--set", nargs="*", default=[], help="other settings, for all learners")
    parser.add_argument("--jobs", default=available_cores(), type=int, help="processes (default: all cores)")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    shared = (options.config, options.train, options.block, tuple(options.set))
    tasks = [(learner, is_turned) for is_turned in (False, True) for learner in LEARNERS]
    found = dict(spread(work, shared, tasks, options.jobs))
    text = ""
    for name, is_turned in (("easier", False), ("harder", True)):
        runs = {learner: found[learner, is_turned][0] for learner in LEARNERS}
        change = next(found[task][1] for task in tasks if task[1] == is_turned)
        rows = [row(learner, run, options.block, change) for learner, run in runs.items()]
        text += f"It becomes {name} after {change:,} sequences.\n\n{table(_HEAD, rows)}\n"
        if find_spec("matplotlib"):
            curves = {one: [run.share(n, n + 1) for n in range(len(run.tokens))] for one, run in runs.items()}
            title = f"Addresses become {name} at the dotted line"
            draw(options.output / f"{name}.png", curves, options.block, change, title)
    (options.output / "table.md").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
