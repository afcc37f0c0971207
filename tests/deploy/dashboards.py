"""The generator of the dashboards, loaded from where it is."""

import runpy
from pathlib import Path
from typing import Any

DEPLOY = Path(__file__).parents[2] / "deploy"


def dashboards() -> list[dict[str, Any]]:
    return runpy.run_path(str(DEPLOY / "grafana" / "build.py"))["dashboards"]()


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]
