"""A report as one self-contained HTML file."""

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

from streamlearn.report.figures import svg, titles

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1c2330; background: #f4f5f7; margin: 0;
  padding: 24px clamp(12px, 4vw, 48px); font-variant-numeric: tabular-nums; }
main { max-width: 960px; margin: 0 auto; }
section { background: #fff; border: 1px solid #e4e7ec; border-radius: 10px; padding: 14px 18px;
  margin: 14px 0; overflow-x: auto; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 15px; margin: 0 0 8px; }
.soft { color: #667085; } svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: 4px 18px 4px 0; text-align: left;
  border-bottom: 1px solid #e4e7ec; } th { color: #667085; font-weight: 500; }
td.n, th.n { text-align: right; } .features { columns: 2; } code { font-size: 12px; }
@media (max-width: 600px) { .features { columns: 1; } }
@media (prefers-color-scheme: dark) {
  body { color: #e6e9ef; background: #10141b; } section { background: #181e28; border-color: #2a3240; }
  td, th { border-color: #2a3240; } .soft, th { color: #98a2b3; }
  /* The figures are drawn dark on light. */
  svg { filter: invert(0.9) hue-rotate(180deg); }
}
"""

# Set off by its style: a label may have any name.
_OTHERS = '<em class="soft">all others</em>'


def html(facts: dict[str, Any]) -> str:
    """Return the page; all text from the stream is escaped."""
    created = datetime.fromtimestamp(facts["created_unix"], UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = (
        f"{facts['learner']} · {facts['sequences_seen']:,} sequences · {len(facts['labels'])} labels · "
        f"{facts['features']['known']:,} features · checkpoint {facts['seq']} from {created} · "
        f"streamlearn {facts['app_version']}"
    )
    parts = [
        _section("Scores", _table(("score", "#ratio"), _scores(facts))),
        _section("Features", _table(("", "#count"), _counts(facts["features"]))),
        *(_section(title, svg(facts, title)) for title in titles(facts)),
        _section(
            "Recent scores by label",
            _table(("label", "#F1", "#precision", "#recall", "#gold"), _labels(facts)),
        ),
        _section("Most frequent confusions", _table(("gold", "predicted", "#count"), _confusions(facts))),
        _section(
            "Concept drift", _table(("signal", "detector", "#sequence", "#before", "#after"), _drifts(facts))
        ),
        *(
            _section(f"Features with the largest weights for {label}", _features(found))
            for label, found in _heaviest(facts)
        ),
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(facts['model'])}</title><style>{_STYLE}</style><main>"
        f'<h1>{escape(facts["model"])}</h1><div class="soft">{escape(about)}</div>'
        f"{''.join(parts)}</main></html>\n"
    )


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>" if content else ""


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    heads, lines = list(heads), [list(row) for row in rows]
    if not lines:
        return ""
    marks = [' class="n"' if head.startswith("#") else "" for head in heads]
    top = "".join(f"<th{m}>{escape(head.lstrip('#'))}</th>" for m, head in zip(marks, heads, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{m}>{cell if cell is _OTHERS else escape(str(cell))}</td>"
            for m, cell in zip(marks, line, strict=True)
        )
        + "</tr>"
        for line in lines
    )
    return f"<table><tr>{top}</tr>{body}</table>"


def _scores(facts: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, ratio in facts["progressive"].items():
        # The last hour is meaningful only in a running process.
        if not name.endswith("/hour"):
            yield name, f"{ratio:.4f}"


def _counts(features: dict[str, int]) -> Iterable[tuple[str, str]]:
    yield "known features", f"{features['known']:,}"
    yield (
        "capacity of the feature tables",
        f"{features['capacity']:,} ({features['known'] / features['capacity']:.1%} used)",
    )
    yield "occurrences of new features ignored because the tables were full", f"{features['refused']:,}"


def _labels(facts: dict[str, Any]) -> Iterable[tuple[object, ...]]:
    for name, at in facts["label_scores"].items():
        yield name, f"{at['f1']:.4f}", f"{at['precision']:.4f}", f"{at['recall']:.4f}", f"{at['support']:,}"


def _confusions(facts: dict[str, Any]) -> Iterable[tuple[object, ...]]:
    for gold, predicted, count in facts["confusions"]:
        yield (*(_OTHERS if label is None else label for label in (gold, predicted)), count)


def _drifts(facts: dict[str, Any]) -> Iterable[tuple[object, ...]]:
    for at in facts["drifts"]:
        yield at["signal"], at["detector"], f"{at['sequence']:,}", f"{at['before']:.3f}", f"{at['after']:.3f}"


def _heaviest(facts: dict[str, Any]) -> Iterable[tuple[str, list[tuple[str, float]]]]:
    shown = [label for label in facts["heaviest"] if facts["heaviest"][label]]
    for label in shown[:40]:
        yield label, facts["heaviest"][label]


def _features(found: list[tuple[str, float]]) -> str:
    rows = "".join(f"<div>{weight:+.3f} <code>{escape(name)}</code></div>" for name, weight in found)
    return f'<div class="features">{rows}</div>'
