"""The results as a table and as a figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from tests.benchmarks.synthetic.methods import METHODS
from tests.reference import table

Found = Mapping[str, Any]
DEV, TEST = 0, 1
# Dror & Reichart 2016, section 6: a β chosen on dev generalises if it is at most so much worse than the best.
TOLERANCE = 0.005


def chosen(found: Found, column: str, split: int = TEST) -> float:
    """Return the accuracy of the setting that is best on dev, the first of equals."""
    return max((scores[column] for scores in found["scores"]), key=lambda pair: pair[DEV])[split]


def generalises(found: Found, column: str) -> bool:
    """Return whether the setting chosen on dev is about the best on test."""
    return chosen(found, column) >= max(scores[column][TEST] for scores in found["scores"]) - TOLERANCE


class Setup:
    """The results of all methods on the data sets of one setup.

    Parameters
    ----------
    found : by method, one result a data set.
    passes : how many the columns of convergence are of.
    """

    def __init__(self, number: int, found: Mapping[str, Sequence[Found]], passes: int) -> None:
        self.number = number
        self.found = found
        self.passes = passes

    def accuracies(self, method: str, column: str) -> list[float]:
        """Return test accuracies by data set; none where the method has no such column."""
        if column not in self.found[method][0]["scores"][0]:
            return []
        return [100 * chosen(each, column) for each in self.found[method]]

    @property
    def ceiling(self) -> list[float]:
        """Return test accuracies of the true models."""
        return [100 * each["ceiling"][TEST] for each in next(iter(self.found.values()))]

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row a method, and one of the ceiling."""
        ceiling = (str(self.number), "true model", _mean(self.ceiling), *6 * [""])
        return [self._row(method) for method in self.found] + [ceiling]

    def _row(self, method: str) -> tuple[str, ...]:
        many = f"last {self.passes}"
        has_many = bool(self.accuracies(method, many))
        return (
            str(self.number),
            method,
            _mean(self.accuracies(method, many)),
            self._wins(method, many) if has_many else "",
            self._generalised(method, many) if has_many else "",
            self._fixed(method, many) if has_many else "",
            _mean(self.accuracies(method, f"averaged {self.passes}")),
            _mean(self.accuracies(method, "last 1")),
            _mean(self.accuracies(method, "averaged 1")),
        )

    def _wins(self, method: str, column: str) -> str:
        pairs = zip(self.accuracies(method, column), self.accuracies("CSP", column), strict=True)
        return str(sum(ours > theirs for ours, theirs in pairs))

    def _generalised(self, method: str, column: str) -> str:
        if len(METHODS[method].settings) == 1:
            return ""
        return str(sum(generalises(each, column) for each in self.found[method]))

    def _fixed(self, method: str, column: str) -> str:
        place = METHODS[method].fixed
        return _mean([100 * each["scores"][place][column][TEST] for each in self.found[method]])

    def unexpected(self, column: str) -> int:
        """Count how often SWVP beats CSP on dev and not on test."""
        return sum(
            chosen(ours, column, DEV) > chosen(theirs, column, DEV)
            and chosen(ours, column) <= chosen(theirs, column)
            for method in self.found
            if METHODS[method].settings[0].learner["kind"] == "swvp"
            for ours, theirs in zip(self.found[method], self.found["CSP"], strict=True)
        )


def _mean(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{fmean(values):.2f} ± {stdev(values) if len(values) > 1 else 0:.2f}"


def markdown(setups: Sequence[Setup]) -> str:
    """Write the table, and how dev and test agree."""
    passes = setups[0].passes
    head = (
        "setup",
        "learner",
        f"last weights, {passes} passes",
        "wins",
        "gener.",
        "β = 1",
        f"averaged, {passes} passes",
        "last weights, 1 pass",
        "averaged, 1 pass",
    )
    text = table(head, [row for setup in setups for row in setup.rows()])
    count = sum(setup.unexpected(f"last {passes}") for setup in setups)
    return f"{text}\nSWVP beats CSP on dev but not on test: {count} times ({passes} passes, last weights).\n"


def draw(path: Path, setups: Sequence[Setup]) -> None:
    """Write a PNG: each method's mean and standard deviation, and the ceiling as a line."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(setups), figsize=(5 * len(setups), 5.5), sharey=True, squeeze=False)
    columns = (f"last {setups[0].passes}", "last 1", "averaged 1")
    for axis, setup in zip(axes[0], setups, strict=True):
        for shift, column in enumerate(columns):
            for place, method in enumerate(setup.found):
                values = setup.accuracies(method, column)
                if values:
                    spread = stdev(values) if len(values) > 1 else 0.0
                    axis.errorbar(
                        fmean(values), place + 0.2 * (shift - 1), xerr=spread, fmt="o", color=f"C{shift}",
                        label=column if place == 0 else None,
                    )  # fmt: skip
        axis.axvline(fmean(setup.ceiling), color="k", linestyle="--", label="true model")
        axis.set(title=f"setup {setup.number}", xlabel="token accuracy, %")
        axis.set_yticks(range(len(setup.found)), list(setup.found))
        axis.grid(alpha=0.3)
    axes[0][0].invert_yaxis()
    axes[0][0].legend(loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
