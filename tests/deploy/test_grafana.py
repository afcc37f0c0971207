import json
import re

import pytest
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from streamlearn.telemetry.catalogue import METRICS, STATES
from tests.deploy.dashboards import DEPLOY, dashboards, everything, panels

FOLDER = DEPLOY / "grafana" / "dashboards"
MADE = {dashboard["uid"]: dashboard for dashboard in dashboards()}
PANELS = [
    pytest.param(panel, id=f"{dashboard['uid']}: {panel['title']}")
    for dashboard in MADE.values()
    for panel in panels(dashboard)
]


def test_the_files_are_those_that_the_generator_makes():
    found = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    assert found == json.loads(json.dumps(MADE)), "run: python deploy/grafana/build.py"


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_explains_itself(panel):
    assert re.fullmatch(r"[A-Z0-9].*\.", panel["description"])
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert all(target["legendFormat"] for target in panel["targets"])


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_asks_the_chosen_source_for_the_chosen_instances(panel):
    for target in panel["targets"]:
        assert target["datasource"]["uid"] == "$datasource"
        selectors = re.findall(r"(?:(?:streamlearn|process|python)_\w+|\bup)\{([^}]*)\}", target["expr"])
        assert selectors
        assert all('job=~"$job", instance=~"$instance"' in selector for selector in selectors)


@pytest.mark.parametrize("uid", MADE)
def test_panels_do_not_overlap_and_stay_inside(uid):
    taken = set()
    for panel in everything(MADE[uid]):
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in everything(MADE[uid])}) == len(everything(MADE[uid]))


@pytest.mark.parametrize("panel", [each for each in PANELS if each.values[0]["type"] != "heatmap"])
def test_no_two_instances_share_a_legend_or_a_series(panel):
    for target in panel["targets"]:
        assert "{{instance}}" in target["legendFormat"]
        for grouping in re.findall(r"(?:sum|max|avg|min|count)\b(.{0,14})", target["expr"]):
            assert grouping.startswith(" by (instance"), target["expr"]


def test_the_state_is_green_only_while_it_is_good():
    [state] = [panel for panel in panels(MADE["streamlearn-operations"]) if panel["title"] == "State"]
    colours = {
        override["matcher"]["options"]: override["properties"][0]["value"]["fixedColor"]
        for override in state["fieldConfig"]["overrides"]
    }
    for name in (*STATES, "no answer"):
        [colour] = [
            colour for pattern, colour in colours.items() if re.search(pattern.strip("/"), f"a:1 {name}")
        ]
        assert (colour == "green") == (name == "running"), name
        assert (colour == "red") == (name in ("failed", "no answer")), name


def test_values_that_stand_for_words_are_shown_as_words():
    for dashboard in MADE.values():
        for panel in panels(dashboard):
            if any("consumer_connected" in target["expr"] for target in panel["targets"]):
                words, _ = panel["fieldConfig"]["defaults"]["mappings"]
                assert {key: word["text"] for key, word in words["options"].items()} == {
                    "0": "no answer",
                    "1": "connected",
                }


@pytest.mark.parametrize("panel", [each for each in PANELS if each.values[0]["type"] in ("stat", "bargauge")])
def test_the_unknown_is_neither_green_nor_an_older_number(panel):
    """Grafana shows NaN in the colour of the lowest threshold, and of a range the last number before it."""
    *_, unknown = panel["fieldConfig"]["defaults"]["mappings"]
    assert unknown["options"]["match"] == "null+nan"
    assert unknown["options"]["result"] == {"text": "unknown", "color": "text"}
    assert all(target["instant"] for target in panel["targets"])


def test_what_a_panel_says_of_its_style_is_kept():
    """A style of one panel adds to the usual style of its kind, and takes nothing else away."""
    content = yaml.safe_load((DEPLOY / "grafana" / "panels.yaml").read_text())["dashboards"]
    entries = [entry for dashboard in content.values() for entry in dashboard["panels"] if "row" not in entry]
    made = [panel for dashboard in MADE.values() for panel in panels(dashboard)]
    for entry, panel in zip(entries, made, strict=True):
        defaults = panel["fieldConfig"]["defaults"]
        assert entry.get("defaults", {}).items() <= defaults.items()
        assert entry.get("options", {}).items() <= panel["options"].items()
        if panel["type"] == "timeseries":
            assert {"drawStyle", "lineWidth", "fillOpacity"} <= defaults["custom"].keys()
            assert ("scaleDistribution" in defaults["custom"]) == bool(entry.get("logarithmic"))


def test_rows_for_one_learner_are_closed_until_they_are_wanted():
    rows = {each["title"]: each for each in everything(MADE["streamlearn-learning"]) if each["type"] == "row"}
    closed = {title for title, row in rows.items() if row["collapsed"]}
    assert closed == {"Perceptron", "ADF and SGD", "Structured weighted violations perceptron"}
    assert all(bool(row["panels"]) == (title in closed) for title, row in rows.items())


def test_frequent_marks_are_hidden_until_they_are_wanted_and_none_is_a_region():
    marks = {mark["name"]: mark for mark in MADE["streamlearn-operations"]["annotations"]["list"]}
    assert {name: mark["enable"] for name, mark in marks.items()} == {
        "Checkpoint": False,
        "Start": True,
        "Drift": True,
    }
    # Marks at the times that are the values: one for each checkpoint, not one for each step of the query.
    assert marks["Checkpoint"]["useValueForTime"]
    assert marks["Start"]["useValueForTime"]


def test_every_metric_is_shown_somewhere():
    text = json.dumps([list(MADE.values())]) + (DEPLOY / "prometheus" / "rules.yaml").read_text()
    # A rare figure for authors of the method, and what other figures are made of.
    spared = {"consumer_position_offset", "consumer_high_watermark_offset", "swvp_violating_gamma_total"}
    missing = {spec.name for spec in METRICS if f"streamlearn_{spec.name}" not in text} - spared
    assert missing == set()


def test_both_know_checkpoints_starts_and_drift():
    for dashboard in MADE.values():
        names = [annotation["name"] for annotation in dashboard["annotations"]["list"]]
        assert names == ["Checkpoint", "Start", "Drift"]


def test_what_is_provisioned_is_there():
    provisioning = DEPLOY / "grafana" / "provisioning"
    [source] = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    [provider] = yaml.safe_load((provisioning / "dashboards" / "streamlearn.yaml").read_text())["providers"]
    compose = yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())
    assert (
        f"./grafana/dashboards:{provider['options']['path']}:ro" in compose["services"]["grafana"]["volumes"]
    )


def lost(before, after, place=""):
    """Return the places of what is in one tree and not, or not as it is, in the other."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from lost(value, after.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from lost(old, new, place)
    elif before != after:
        yield place


# Of the Prometheus data source and of its variables, which the schema of dashboards leaves open.
OPEN = {f"/annotations/list/{key}" for key in ("titleFormat", "textFormat", "step", "useValueForTime")}
OPEN.add("/templating/list/definition")


@pytest.mark.parametrize("uid", MADE)
def test_the_schema_of_grafana_knows_all_that_is_there(uid):
    plugins.register_default_plugins()
    made = json.loads(json.dumps(MADE[uid]))
    understood = json.loads(JSONEncoder().encode(Dashboard.from_json(made)))
    assert set(lost(made, understood)) == OPEN
