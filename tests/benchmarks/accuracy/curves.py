"""Learning curves as pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def draw(path: Path, title: str, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a PNG: the progressive score against the sequences learned, of every learner.

    Parameters
    ----------
    found : results with a curve, by learner.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    for column, (axis, window) in enumerate(zip(axes, ("lifetime", "last 1,000 sequences"), strict=True), 1):
        for learner, result in found.items():
            curve = result["curve"]
            axis.plot([point[0] for point in curve], [100 * point[column] for point in curve], label=learner)
        axis.set(title=window, xlabel="sequences learned")
        axis.grid(alpha=0.3)
    metric = {"f1": "F1", "token_accuracy": "token accuracy"}[next(iter(found.values()))["metric"]]
    axes[0].set_ylabel(f"progressive {metric}, %")
    best = max(100 * point[2] for result in found.values() for point in result["curve"])
    # The first sequences are predicted from nothing; what differs is at the top.
    axes[0].set_ylim(max(0.0, best - 25), best + 1)
    axes[1].legend(loc="lower right")
    figure.suptitle(f"{title}: each sequence is predicted before it is learned")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
