"""What was measured: kept as JSON Lines, told as a table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from streamlearn.kernels import cache
from tests.benchmarks.accuracy.runs import Run
from tests.reference import table

# Changes with every kernel.
CODE = cache.fingerprint(Path(cache.__file__).parent.rglob("*.py"))
Found = Mapping[str, Any]


class Results:
    """Results by the key of their run, those of an interrupted study included."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[str, Found] = {}
        if path.exists():
            lines = path.read_text().splitlines(keepends=True)
            # The last line is not whole if the machine went down over it.
            entries = [json.loads(line) for line in lines if line.endswith("\n")]
            self._found = {entry["key"]: entry for entry in entries}
            path.write_text("".join(line for line in lines if line.endswith("\n")))

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, run: Run) -> Found:
        return self._found[run.key]

    def __contains__(self, run: Run) -> bool:
        return run.key in self._found

    @property
    def of_other_code(self) -> int:
        """How many were measured before a kernel changed."""
        return sum(entry["code"] != CODE for entry in self._found.values())

    def add(self, run: Run, result: Found) -> None:
        """Keep a result."""
        entry = {"key": run.key, "code": CODE, **result}
        self._found[run.key] = entry
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def row(learner: str, one: Sequence[Found], many: Found, test: Found) -> tuple[str, ...]:
    """Give the row of a learner: one pass in several orders, converged on the held-out tail, tested."""
    scores = [100 * found["scores"][-1] for found in one]
    spread = f" ± {stdev(scores):.2f}" if len(scores) > 1 else ""
    peak = one[0]["peak_bytes"]
    return (
        learner,
        f"{100 * one[0]['scores'][-1]:.2f}",
        f"{fmean(scores):.2f}{spread}",
        f"{100 * test['scores'][-1]:.2f}",
        str(test["passes"]) if many["converged"] else f"> {test['passes']}",
        f"{max(found['tokens_per_second'] for found in one):,.0f}",
        "" if peak is None else f"{peak / 1e6:,.0f}",
    )


def markdown(rows: Iterable[tuple[str, ...]], orders: int) -> str:
    """Write the table; the first cell of a row is the task."""
    head = (
        "task",
        "learner",
        "one pass, file order",
        f"one pass, {orders} orders",
        "converged",
        "passes",
        "tokens/s",
        "peak MB",
    )
    return table(head, rows)
