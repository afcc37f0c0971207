"""The generator of the dashboards, loaded from where it is."""

import sys
from pathlib import Path
from typing import Any

DEPLOY = Path(__file__).parents[2] / "deploy"


def dashboards() -> list[dict[str, Any]]:
    sys.path.insert(0, str(DEPLOY / "grafana"))
    try:
        from panels import DASHBOARDS
    finally:
        sys.path.pop(0)
    return DASHBOARDS


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]
