"""Builds the two dashboards of streamlearn from `panels.yaml`.

    python deploy/grafana/build.py

writes `deploy/grafana/dashboards/`; a test fails if the files there are out of date.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

PANELS = Path(__file__).with_name("panels.yaml")
FOLDER = Path(__file__).parent / "dashboards"
SOURCE = {"type": "prometheus", "uid": "$datasource"}
# The instances that the variables select.
WHERE = 'job=~"$job", instance=~"$instance"'
RATE = "[$__rate_interval]"
WIDTH = 24

Json = dict[str, Any]

# Asked for the present moment alone: of a range, Grafana would show the last number before the unknown.
STAT_OPTIONS = {"colorMode": "value", "graphMode": "none", "reduceOptions": {"calcs": ["last"]}}
UNKNOWN = {
    "type": "special",
    "options": {"match": "null+nan", "result": {"text": "unknown", "color": "text"}},
}
LINES_OPTIONS = {
    "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["last"], "showLegend": True},
    "tooltip": {"mode": "multi", "sort": "desc"},
}


def panel(kind: str, entry: Mapping[str, Any], shown: Mapping[str, str], size: tuple[int, int]) -> Json:
    """Return a panel; `place` sets its position.

    Parameters
    ----------
    entry : of `panels.yaml`.
    shown : legend to expression.
    size : width and height.
    """
    colours = entry.get("thresholds", {"green": None})
    steps = [{"color": colour, "value": value} for colour, value in colours.items()]
    targets = [
        {"datasource": SOURCE, "expr": expression, "legendFormat": legend, "refId": chr(ord("A") + number)}
        for number, (legend, expression) in enumerate(shown.items())
    ]
    return {
        "type": kind,
        "title": entry[next(iter(entry))],
        "description": entry["about"],
        "datasource": SOURCE,
        "targets": targets,
        "gridPos": {"w": entry.get("width", size[0]), "h": size[1]},
        "fieldConfig": {
            "defaults": {
                "unit": entry["unit"],
                "thresholds": {"mode": "absolute", "steps": steps},
                "mappings": [words(entry.get("words", {})), UNKNOWN],
                **entry.get("defaults", {}),
            },
            "overrides": [coloured(*each) for each in entry.get("colours", {}).items()],
        },
        "options": entry.get("options", {}),
    }


def words(shown: Mapping[float, Sequence[str]]) -> Json:
    """Return the values that are shown as a word with a colour."""
    return {
        "type": "value",
        "options": {str(value): {"text": text, "color": colour} for value, (text, colour) in shown.items()},
    }


def coloured(ending: str, colour: str) -> Json:
    """Return the colour of all series whose legend ends in this way."""
    return {
        "matcher": {"id": "byRegexp", "options": f"/{ending}$/"},
        "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
    }


def stat(entry: Mapping[str, Any]) -> Json:
    """Return single figures as of now, coloured by their thresholds."""
    made = panel("stat", entry, entry["show"], (4, 4))
    for target in made["targets"]:
        target["instant"] = True
    return made | {"options": STAT_OPTIONS | made["options"]}


def lines(entry: Mapping[str, Any]) -> Json:
    """Return curves over time, with a legend that shows the last values."""
    made = panel("timeseries", entry, entry["show"], (8, 8))
    made["options"] = LINES_OPTIONS | made["options"]
    custom: Json = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 8, "showPoints": "auto"}
    if "thresholds" in entry:
        custom["thresholdsStyle"] = {"mode": "dashed"}
    if entry.get("logarithmic"):
        custom["scaleDistribution"] = {"type": "log", "log": 10}
    defaults = made["fieldConfig"]["defaults"]
    defaults["custom"] = custom | defaults.get("custom", {})
    # Lines are told apart by their colours; a threshold is drawn as a line of its own.
    defaults["color"] = {"mode": "palette-classic"}
    return made


def heatmap(entry: Mapping[str, Any]) -> Json:
    """Return the distribution of a histogram over time."""
    buckets = entry["histogram"].replace("{", "_bucket{")
    made = panel("heatmap", entry, {"{{le}}": f"sum by (le) (increase({buckets}{RATE}))"}, (8, 8))
    made["targets"][0]["format"] = "heatmap"
    options = {"calculate": False, "yAxis": {"unit": entry["unit"]}, "legend": {"show": True}, "cellGap": 1}
    return made | {"options": options}


def bargauge(entry: Mapping[str, Any]) -> Json:
    """Return a bar for each current value."""
    made = panel("bargauge", entry, entry["show"], (12, 8))
    for target in made["targets"]:
        target["instant"] = True
    return made


def row(entry: Mapping[str, Any]) -> Json:
    """Return the heading of the panels that follow, which a closed row hides."""
    head = {"type": "row", "title": entry["row"], "collapsed": entry.get("closed", False), "panels": []}
    return head | {"gridPos": {"w": WIDTH, "h": 1}}


KINDS = {"stat": stat, "lines": lines, "heatmap": heatmap, "bargauge": bargauge, "row": row}


def place(panels: Sequence[Json]) -> list[Json]:
    """Return the panels from left to right, line by line, and numbered; a closed row holds its own."""
    x = y = line = 0
    placed: list[Json] = []
    into = placed
    for number, each in enumerate(panels, 1):
        width, height = each["gridPos"]["w"], each["gridPos"]["h"]
        if x + width > WIDTH:
            x, y, line = 0, y + line, 0
        made = {**each, "id": number, "gridPos": {"x": x, "y": y, "w": width, "h": height}}
        x, line = x + width, max(line, height)
        if each["type"] == "row":
            made["panels"] = []
            placed.append(made)
            into = made["panels"] if each["collapsed"] else placed
        else:
            into.append(made)
    return placed


def variable(name: str, label: str, query: str) -> Json:
    """Return a drop-down list of label values."""
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


def annotation(name: str, colour: str, expression: str, text: str, *, shown: bool, at_value: bool) -> Json:
    """Return marks on all panels; a switch above the dashboard shows and hides them.

    Parameters
    ----------
    shown : whether they are there from the start; marks as frequent as checkpoints would colour every panel.
    at_value : at the times that are the values of the expression, in milliseconds; else while it is above 0.
    """
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": shown,
        "iconColor": colour,
        "expr": expression,
        "titleFormat": name,
        "textFormat": text,
        "step": "30s",
        "useValueForTime": at_value,
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
        f"streamlearn_last_checkpoint_timestamp_seconds{{{WHERE}}} * 1000",
        "{{instance}} wrote a checkpoint",
        shown=False,
        at_value=True,
    ),
    annotation(
        "Start",
        "orange",
        f"process_start_time_seconds{{{WHERE}}} * 1000",
        "{{instance}} started",
        shown=True,
        at_value=True,
    ),
    annotation(
        "Drift",
        "red",
        f"increase(streamlearn_drift_detected_total{{{WHERE}}}[1m]) > 0",
        "{{instance}}: {{signal}} rose, by {{detector}}",
        shown=True,
        at_value=False,
    ),
]


def dashboard(name: str, content: Mapping[str, Any]) -> Json:
    """Return a whole dashboard, ready to be provisioned."""
    link = {"type": "dashboards", "tags": ["streamlearn"], "title": "streamlearn", "keepTime": True}
    return {
        "uid": f"streamlearn-{name}",
        "title": f"streamlearn: {name}",
        "description": content["description"],
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
        "panels": place([KINDS[next(iter(entry))](entry) for entry in content["panels"]]),
    }


def dashboards() -> list[Json]:
    """Return both dashboards."""
    found = yaml.safe_load(PANELS.read_text().replace("{chosen", f"{{{WHERE}"))
    return [dashboard(name, content) for name, content in found["dashboards"].items()]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for made in dashboards():
        path = FOLDER / f"{made['uid']}.json"
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
