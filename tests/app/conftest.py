"""A folder for daemons."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.process import Run


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where a test's daemons live; afterwards none does, and what they logged is shown."""
    yield tmp_path
    for run in Run.started:
        run.process.kill()
    Run.started.clear()
    log = tmp_path / "log"
    if log.exists():
        print(log.read_text())
