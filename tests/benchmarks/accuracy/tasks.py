"""What is learned, from which files, with which settings tried: the study as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CONFIGS = HERE.parents[2] / "configs"


@dataclass(frozen=True)
class Task:
    """A configuration, and what it learns and is tested on."""

    name: str
    config: Path
    train: Path
    test: Path


def tasks(data: Path, output: Path) -> list[Task]:
    """Give all tasks; `output` holds what the study prepares for itself.

    Of PKU a tenth is taken, as of MSR there is no more: all of the month takes ten times as long.
    """

    def task(name: str, config: Path, folder: Path, train: str = "train") -> Task:
        return Task(name, config, folder / f"{train}.jsonl.gz", folder / "test.jsonl.gz")

    return [
        task("chunking-np", CONFIGS / "chunking-np.yaml", data / "conll2000"),
        task("chunking", CONFIGS / "chunking.yaml", data / "conll2000"),
        task("jnlpba", CONFIGS / "ner.yaml", data / "jnlpba"),
        task("jnlpba-pos", HERE / "ner-pos.yaml", output / "jnlpba-pos"),
        task("msr", CONFIGS / "segmentation.yaml", data / "msr"),
        task("pku", CONFIGS / "segmentation.yaml", data / "pku", "train_official10pct"),
        task("wnut17", CONFIGS / "ner.yaml", data / "wnut17"),
    ]


# Every point is learned from the first nine tenths of the training set and scored on the last. A learner that
# is missing here is run as it is configured.
GRIDS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "adf": {"learner.rate": ("0.02", "0.05", "0.1"), "learner.sigma": ("1", "5")},
    "sgd": {"learner.rate": ("0.05", "0.1", "0.2"), "learner.sigma": ("1", "5")},
    "adagrad": {"learner.rate": ("0.1", "0.2", "0.4"), "learner.sigma": ("1", "5")},
}

# Passes of every point of the grid: the first decides the settings for one pass, the last those for many.
TUNING_PASSES = 4

# Sun, Li, Wang & Li 2014, table 4: a learner has converged when the scores of five passes in a row differ by
# less than so many points of 100.
CRITERION_POINTS = 0.01
CRITERION_PASSES = 5
