"""The figures of a report, drawn with matplotlib."""

import io
from collections.abc import Callable, Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Facts = dict[str, Any]

_GREEN, _GREY, _ORANGE, _MARK = "#1f7a5c", "#8a94a6", "#b4541f", "#c02a5c"


def titles(facts: Facts) -> list[str]:
    """Return the titles of the figures that have data."""
    return [title for title, _ in _drawings(facts)]


def svg(facts: Facts, title: str) -> str:
    """Return one figure as an SVG element for HTML."""
    figure = Figure(figsize=(9.0, 3.0), layout="constrained")
    dict(_drawings(facts))[title](figure.subplots())
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    return file.getvalue().partition("<svg")[1] + file.getvalue().partition("<svg")[2]


def png(facts: Facts) -> bytes:
    """Return all figures as one PNG image."""
    drawings = list(_drawings(facts))
    figure = Figure(figsize=(9.0, 3.0 * len(drawings) + 0.5), layout="constrained")
    figure.suptitle(f"{facts['model']}: {facts['sequences_seen']:,} sequences, {facts['learner']}")
    for axes, (title, draw) in zip(
        figure.subplots(len(drawings), squeeze=False)[:, 0], drawings, strict=True
    ):
        draw(axes)
        axes.set_title(title, fontsize=10, loc="left")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=130)
    return file.getvalue()


def _drawings(facts: Facts) -> Iterator[tuple[str, Callable[[Axes], None]]]:
    if facts["curve"]["sequences"]:
        yield "Learning curve", lambda axes: _accuracy(axes, facts)
        yield "Loss", lambda axes: _line(axes, facts, "loss", "loss per sequence", _ORANGE)
        yield "Known features", lambda axes: _line(axes, facts, "features", "known features", _GREY)
    if facts["rates"]:
        yield "Learning rates of features", lambda axes: _rates(axes, facts)
        yield "Weight norm by learning rate", lambda axes: _by_rate(axes, facts)
    if facts["norms"]:
        yield "Weight norm by order of first occurrence", lambda axes: _by_order(axes, facts)


def _accuracy(axes: Axes, facts: Facts) -> None:
    curve = facts["curve"]
    axes.plot(curve["sequences"], curve["sequence_accuracy"], color=_GREY, lw=1, label="sequence accuracy")
    axes.plot(curve["sequences"], curve["accuracy"], color=_GREEN, lw=1.5, label="token accuracy")
    if any(value == value for value in curve["f1"]):
        axes.plot(curve["sequences"], curve["f1"], color=_ORANGE, lw=1, label="F1 of spans (fading)")
    axes.set_ylim(0, 1)
    _along_the_stream(axes, facts)
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _line(axes: Axes, facts: Facts, name: str, label: str, colour: str) -> None:
    axes.plot(facts["curve"]["sequences"], facts["curve"][name], color=colour, lw=1.2)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    _along_the_stream(axes, facts)


def _along_the_stream(axes: Axes, facts: Facts) -> None:
    for number, drift in enumerate(facts["drifts"]):
        label = None if number else "drift"
        axes.axvline(drift["sequence"], color=_MARK, lw=0.8, ls="--", label=label)
    axes.set_xlabel("sequences learned")
    axes.set_xlim(left=0)
    _plain(axes)


def _rates(axes: Axes, facts: Facts) -> None:
    low, high = min(facts["rates"]), max(facts["rates"])
    edges = [low * (high / low) ** (n / 40) for n in range(41)] if high > low else [low * 0.9, low * 1.1]
    axes.hist(facts["rates"], bins=edges, color=_GREEN)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("learning rate at the last occurrence (lower for frequent features)")
    axes.set_ylabel("features")
    _plain(axes)


def _by_rate(axes: Axes, facts: Facts) -> None:
    _scatter(axes, facts["rates"], facts["rate_norms"])
    axes.set_xlabel("learning rate at the last occurrence (lower for frequent features)")


def _by_order(axes: Axes, facts: Facts) -> None:
    _scatter(axes, [row + 1 for row in facts["rows"]], facts["norms"])
    axes.set_xlabel("feature by order of first occurrence (frequent features come first)")


def _scatter(axes: Axes, xs: list[float], ys: list[float]) -> None:
    # Rasterized: thousands of points as SVG elements would take megabytes.
    axes.scatter(xs, ys, s=3, alpha=0.3, color=_GREEN, linewidths=0, rasterized=True)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("norm of the weights")
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, lw=0.5)
