"""The methods compared: learners, and the settings tried for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BETAS = tuple(half / 2 for half in range(1, 11))
ORDERS = 10


@dataclass(frozen=True)
class Setting:
    """Settings of a learner, as in the configuration, and the order of the training set (0 is as drawn)."""

    learner: Mapping[str, object]
    order: int = 0


@dataclass(frozen=True)
class Method:
    """One of `settings` is chosen on dev, separately for every column of the table.

    Attributes
    ----------
    fixed : the setting to take where none is to be chosen.
    once : whether it is for the columns of one pass only.
    """

    settings: Sequence[Setting]
    fixed: int = 0
    once: bool = False


def _swvp(betas: Sequence[float] = BETAS, **chosen: object) -> Method:
    settings = [Setting({"kind": "swvp", "average": "all", "beta": beta, **chosen}) for beta in betas]
    return Method(settings, fixed=betas.index(1.0))


def _single(gamma: str, violations: str, condition: str = "enforced") -> Method:
    return _swvp(substructures="single", gamma=gamma, violations=violations, condition=condition)


def _once(kind: str, **grid: Sequence[object]) -> Method:
    (key, values), *rest = grid.items()
    fixed = {name: value for name, (value,) in rest}
    return Method([Setting({"kind": kind, key: value, **fixed}) for value in values], once=True)


_CSP = {"kind": "perceptron", "average": "all"}

METHODS: Mapping[str, Method] = {
    "CSP": Method([Setting(_CSP)]),
    "CSP, best of 10 orders": Method([Setting(_CSP, order) for order in range(ORDERS)]),
    "A-WM": _single("wm", "aggressive"),
    "A-WMR": _single("wmr", "aggressive"),
    "B-WM": _single("wm", "balanced", "published"),
    "B-WMR": _single("wmr", "balanced", "published"),
    "B-WM, condition (2)": _single("wm", "balanced"),
    "B-WMR, condition (2)": _single("wmr", "balanced"),
    "blocks, WM": _swvp((0.5, 1.0, 2.0), substructures="blocks", gamma="wm"),
    "all sets, A-WM": _swvp((0.5, 1.0, 2.0), substructures="all", gamma="wm"),
    "perceptron, fading": _once("perceptron", half_life=(500.0, 1000.0, 2000.0), average=["exponential"]),
    "perceptron, margin": _once("perceptron", cost=(0.5, 1.0, 2.0, 5.0), average=["all"]),
    "pa": _once("pa", aggressiveness=(0.01, 0.03, 0.1)),
    "arow": _once("arow", regularization=(1.0, 10.0, 100.0), average=["all"]),
    "sgd": _once("sgd", rate=(0.05, 0.1, 0.2, 0.4), min_rate=[0.0]),
    "adagrad": _once("adagrad", rate=(0.1, 0.2, 0.4)),
    "adf": _once("adf", rate=(0.05, 0.1, 0.2, 0.4), min_rate=[0.0]),
    "adf, averaged": _once("adf", rate=(0.05, 0.1, 0.2, 0.4), average=["all"], min_rate=[0.0]),
}
