"""The generator of the dashboards, loaded from where it is."""

import runpy
from pathlib import Path
from typing import Any

DEPLOY = Path(__file__).parents[2] / "deploy"


def dashboards() -> list[dict[str, Any]]:
    return runpy.run_path(str(DEPLOY / "grafana" / "build.py"))["dashboards"]()


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the panels of a dashboard, those in closed rows as well, without the rows."""
    return [panel for panel in everything(dashboard) if panel["type"] != "row"]


def everything(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows and panels from top to bottom."""
    return [each for panel in dashboard["panels"] for each in (panel, *panel.get("panels", ()))]
