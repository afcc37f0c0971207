"""The two dashboards of streamlearn, built: every panel in one place, the same look for all.

    python deploy/grafana/build.py

writes `deploy/grafana/dashboards/`; a test fails while the files there are others.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "dashboards"
SOURCE = {"type": "prometheus", "uid": "$datasource"}
# What every expression looks at; `$instance` holds the instances of the chosen models.
WHERE = 'job=~"$job", instance=~"$instance"'
TOPIC = f'{WHERE}, topic=~"$topic"'
RATE = "[$__rate_interval]"
WIDTH = 24

Json = dict[str, Any]


def target(expression: str, legend: str, **more: Any) -> Json:
    """Give one query."""
    return {"datasource": SOURCE, "expr": expression, "legendFormat": legend, **more}


def panel(
    kind: str,
    title: str,
    description: str,
    targets: Sequence[Json],
    unit: str,
    *,
    width: int = 8,
    height: int = 8,
    thresholds: Sequence[tuple[str, float | None]] = (("green", None),),
    defaults: Json | None = None,
    options: Json | None = None,
) -> Json:
    """Give a panel; `place` says where it goes."""
    steps = [{"color": colour, "value": value} for colour, value in thresholds]
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": SOURCE,
        "targets": [{**each, "refId": chr(ord("A") + number)} for number, each in enumerate(targets)],
        "gridPos": {"w": width, "h": height},
        "fieldConfig": {
            "defaults": {
                "unit": unit,
                "thresholds": {"mode": "absolute", "steps": steps},
                **(defaults or {}),
            },
            "overrides": [],
        },
        "options": options or {},
    }


def stat(title: str, description: str, expression: str, unit: str, **more: Any) -> Json:
    """Give one figure, coloured by its thresholds."""
    options = {"colorMode": "value", "graphMode": "area", "reduceOptions": {"calcs": ["lastNotNull"]}}
    options |= more.pop("options", {})
    targets = [target(expression, more.pop("legend", "{{instance}}"))]
    return panel("stat", title, description, targets, unit, width=4, height=4, options=options, **more)


def lines(title: str, description: str, targets: Sequence[Json], unit: str, **more: Any) -> Json:
    """Give curves over time, with a legend that names the last value."""
    custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 8, "showPoints": "never"}
    custom |= {"thresholdsStyle": {"mode": "dashed"}} if "thresholds" in more else {}
    defaults = {"custom": custom, **more.pop("defaults", {})}
    options = {
        "legend": {
            "displayMode": "table",
            "placement": "bottom",
            "calcs": ["lastNotNull"],
            "showLegend": True,
        },
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, description, targets, unit, defaults=defaults, options=options, **more)


def heatmap(title: str, description: str, metric: str, unit: str, where: str = WHERE) -> Json:
    """Give how a histogram moves over time."""
    expression = f"sum by (le) (increase(streamlearn_{metric}_bucket{{{where}}}{RATE}))"
    options = {"calculate": False, "yAxis": {"unit": unit}, "legend": {"show": True}, "cellGap": 1}
    return panel(
        "heatmap", title, description, [target(expression, "{{le}}", format="heatmap")], unit, options=options
    )


def row(title: str) -> Json:
    """Give the heading of what follows."""
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"w": WIDTH, "h": 1}}


def place(panels: Sequence[Json]) -> list[Json]:
    """Lay panels out from left to right, line by line, and number them."""
    x = y = line = 0
    placed = []
    for number, each in enumerate(panels, 1):
        width, height = each["gridPos"]["w"], each["gridPos"]["h"]
        if x + width > WIDTH:
            x, y, line = 0, y + line, 0
        placed.append({**each, "id": number, "gridPos": {"x": x, "y": y, "w": width, "h": height}})
        x, line = x + width, max(line, height)
    return placed


def variable(name: str, label: str, query: str) -> Json:
    """Give a drop-down of label values."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def annotation(name: str, colour: str, expression: str, text: str) -> Json:
    """Give marks on all panels where an expression is above 0."""
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": True,
        "iconColor": colour,
        "expr": expression,
        "titleFormat": name,
        "textFormat": text,
        "step": "30s",
    }


VARIABLES = [
    {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "current": {},
    },
    variable("job", "Job", "label_values(streamlearn_build_info, job)"),
    variable("model", "Model", 'label_values(streamlearn_config_info{job=~"$job"}, model)'),
    variable(
        "instance",
        "Instance",
        'label_values(streamlearn_config_info{job=~"$job", model=~"$model"}, instance)',
    ),
    variable("topic", "Topic", f"label_values(streamlearn_consumer_lag_records{{{WHERE}}}, topic)"),
]

ANNOTATIONS = [
    annotation(
        "Checkpoint",
        "blue",
        f"changes(streamlearn_last_checkpoint_timestamp_seconds{{{WHERE}}}[1m]) > 0",
        "{{instance}} saved its state",
    ),
    annotation(
        "Restart", "orange", f"changes(process_start_time_seconds{{{WHERE}}}[1m]) > 0", "{{instance}}"
    ),
    annotation(
        "Drift",
        "red",
        f"increase(streamlearn_drift_detected_total{{{WHERE}}}[1m]) > 0",
        "{{signal}} rose, by {{detector}}",
    ),
]


def dashboard(uid: str, title: str, description: str, panels: Sequence[Json]) -> Json:
    """Give a whole dashboard that can be provisioned as it is."""
    link = {"type": "dashboards", "tags": ["streamlearn"], "title": "streamlearn", "keepTime": True}
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["streamlearn"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "graphTooltip": 1,
        "templating": {"list": VARIABLES},
        "annotations": {"list": ANNOTATIONS},
        "links": [{**link, "includeVars": True, "asDropdown": False}],
        "panels": place(panels),
    }


if __name__ == "__main__":
    from panels import DASHBOARDS

    FOLDER.mkdir(exist_ok=True)
    for made in DASHBOARDS:
        path = FOLDER / f"{made['uid']}.json"
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
