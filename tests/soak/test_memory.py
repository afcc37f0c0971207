"""The short form: nothing is kept of a record for good; `python -m tests.soak.memory` is the long one."""

from pathlib import Path

from tests.soak.memory import run


def test_a_stream_of_nothing_but_news_leaves_no_object_behind(tmp_path: Path) -> None:
    report = run(tmp_path, 16_000, quantum=10_000)
    assert report["objects_per_record"] < 0.2, report
    assert report["megabytes"][-1] - report["megabytes"][3] < 8, report
