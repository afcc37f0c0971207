"""The tasks of the study: files, configurations and grids of settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamlearn.config.load import load
from streamlearn.config.schema import Config

HERE = Path(__file__).parent
CONFIGS = HERE.parents[2] / "configs"


@dataclass(frozen=True)
class Task:
    """A configuration, and what it learns and is tested on.

    Attributes
    ----------
    settings : changes of the configuration.
    without : learners that it does not suit.
    """

    name: str
    config: Path
    train: Path
    test: Path
    settings: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def load(self, *settings: str) -> Config:
        """Return the configuration with further changes."""
        return load(self.config, [*self.settings, *settings])


def second_order(config: Path) -> str:
    """Return the change that adds triples of labels to the templates of a configuration."""
    return "features.templates=" + json.dumps(f"{load(config).features.templates}\nT")


def tasks(data: Path, output: Path) -> list[Task]:
    """Return all tasks; `output` holds what the study prepares for itself.

    Of PKU a tenth is taken, as of MSR there is no more: all of the month takes ten times longer. Brown has
    461 tags: a pass takes a minute, and the voted perceptron 10 GB.
    """

    def task(name: str, config: Path, folder: Path, train: str = "train") -> Task:
        return Task(name, config, folder / f"{train}.jsonl.gz", folder / "test.jsonl.gz")

    def with_triples(task: Task) -> Task:
        # A beam keeps the best prefix that ends in a label, and would need one for each pair.
        name, settings = f"{task.name}-triples", (second_order(task.config),)
        return replace(task, name=name, settings=settings, without=("perceptron, beam",))

    ner, ner_pos = CONFIGS / "ner.yaml", HERE / "ner-pos.yaml"
    jnlpba = task("jnlpba", ner, data / "jnlpba")
    jnlpba_pos = task("jnlpba-pos", ner_pos, output / "jnlpba-pos")
    return [
        task("chunking-np", CONFIGS / "chunking-np.yaml", data / "conll2000"),
        task("chunking", CONFIGS / "chunking.yaml", data / "conll2000"),
        jnlpba,
        with_triples(jnlpba),
        jnlpba_pos,
        with_triples(jnlpba_pos),
        task("msr", CONFIGS / "segmentation.yaml", data / "msr"),
        task("pku", CONFIGS / "segmentation.yaml", data / "pku", "train_official10pct"),
        task("wnut17", ner, data / "wnut17"),
        task("pos-wsj", CONFIGS / "pos-collins.yaml", data / "wsj_sample_pos"),
        task("pos-brown", CONFIGS / "pos-collins.yaml", data / "brown_pos"),
    ]


@dataclass(frozen=True)
class Variant:
    """A learner with some of its settings fixed, and others to be tried.

    Every point of the grid is learned from the first nine tenths of the training set and scored on the last.
    """

    kind: str
    fixed: tuple[str, ...] = ()
    grid: Mapping[str, Sequence[str]] = field(default_factory=dict)


_ONCE = ("learner.replay_tokens=0", "learner.replay_looks=1")
_LOOKS = ("learner.replay_tokens=100000", "learner.replay_looks=3")
# As published, rates fall to nothing; with a floor, which an endless stream needs, no pass would be the last.
_COOLING = ("learner.min_rate=0",)
_RATES = ("0.05", "0.1", "0.2")
_WINDOWS = ("200", "800", "1600")

LEARNERS: Mapping[str, Variant] = {
    "perceptron": Variant("perceptron", _ONCE),
    "perceptron, margin": Variant("perceptron", _ONCE, {"learner.cost": ("0.5", "1", "2")}),
    "perceptron, beam": Variant(
        "perceptron", (*_ONCE, "learner.beam=4"), {"learner.violation": ("max", "early")}
    ),
    "voted": Variant("voted", _ONCE),
    "swvp": Variant(
        "swvp", _ONCE, {"learner.substructures": ("blocks", "all"), "learner.beta": ("0.5", "1")}
    ),
    "pa": Variant("pa", _ONCE, {"learner.aggressiveness": ("0.03", "0.1")}),
    "arow": Variant("arow", _ONCE, {"learner.regularization": ("3", "10", "30")}),
    "sgd": Variant("sgd", _ONCE + _COOLING, {"learner.rate": _RATES[1:]}),
    "adagrad": Variant("adagrad", _ONCE, {"learner.rate": _RATES[1:]}),
    "adf": Variant("adf", _ONCE + _COOLING, {"learner.rate": _RATES, "learner.window": _WINDOWS}),
    "adf, 3 looks": Variant(
        "adf", _LOOKS + _COOLING, {"learner.rate": _RATES[1:], "learner.window": ("400", "1600")}
    ),
}

# Passes of every point of the grid: the first decides the settings for one pass, the last those for many.
TUNING_PASSES = 3

# Sun, Li, Wang & Lu 2014, table 4: a learner has converged when the scores of five passes in a row differ by
# less than so many points of 100.
CRITERION_POINTS = 0.01
CRITERION_PASSES = 5
