"""The grids that tuning searches: those of the learners, and those that options describe."""

from collections.abc import Mapping, Sequence

from streamlearn.config.schema import Config
from streamlearn.errors import UsageError

Grid = Mapping[str, Sequence[str]]

LEARNED = ("features", "labels", "learner")

# ADF: the grid of Sun, Li, Wang & Lu 2014, section 4.3. Step sizes of SGD decay for all features alike, those
# of AdaGrad with the gradients, so that both start with larger ones. PA and AROW have no learning rate, but a
# setting that bounds their steps.
GRIDS: Mapping[str, Grid] = {
    "adf": {"learner.rate": ("0.005", "0.01", "0.05", "0.1"), "learner.sigma": ("1", "5", "10")},
    "swvp": {
        "learner.substructures": ("blocks", "all"),
        "learner.gamma": ("wm", "wmr"),
        "learner.beta": ("0.5", "1", "2"),
    },
    "sgd": {"learner.rate": ("0.02", "0.05", "0.1", "0.2"), "learner.sigma": ("1", "5", "10")},
    "pa": {
        "learner.aggressiveness": ("0.01", "0.03", "0.1", "1"),
        "learner.half_life": ("500", "2000", "8000"),
    },
    "arow": {"learner.regularization": ("1", "3", "10", "30", "100")},
    "adagrad": {"learner.rate": ("0.05", "0.1", "0.2", "0.4"), "learner.sigma": ("1", "5", "10")},
}


def parse_grid(options: Sequence[str]) -> Grid:
    """Read ``dotted.key=value,value,…``.

    Examples
    --------
    >>> parse_grid(["learner.rate=0.05,0.1"])
    {'learner.rate': ('0.05', '0.1')}

    Raises
    ------
    UsageError : an option is malformed, its key does not affect the model, or a key occurs twice.
    """
    grid: dict[str, tuple[str, ...]] = {}
    for option in options:
        key, _, values = option.partition("=")
        found = tuple(value.strip() for value in values.split(","))
        if not key or not all(found):
            raise UsageError(f"--grid {option}: wanted dotted.key=value,value, e.g. learner.rate=0.05,0.1")
        if key.partition(".")[0] not in LEARNED:
            raise UsageError(
                f"--grid {option}: {key} does not affect the model; use keys of {', '.join(LEARNED)}"
            )
        if key in grid:
            raise UsageError(f"--grid {option}: {key} is given twice; put all its values in one --grid")
        grid[key] = found
    return grid


def default_grid(config: Config) -> Grid:
    """Return the grid of the configured learner.

    Raises
    ------
    UsageError : it has none.
    """
    kind = config.learner.kind
    if kind not in GRIDS:
        raise UsageError(
            f"learner.kind {kind} has no learning rate to tune; choose another learner (--set "
            "learner.kind=adf), or name the values to try (--grid learner.average=all,none)"
        )
    return GRIDS[kind]
