"""The synthetic experiment of Dror & Reichart 2016 (section 6, table 1), with additional controls.

    python -m tests.benchmarks.swvp --output /tmp/swvp

Per setup ten data sets from random hidden Markov models. SWVP with single positions, aggressive (A) or
balanced (B), by margin (WM) or its rank (WMR), β of .5, 1, …, 5 chosen on dev, against Collins' perceptron
(CSP). "wins": data sets where it beats CSP; "gener.": where the β chosen on dev is at most .5 points worse on
test than the best. The paper's B does not impose condition (2); the table also has a B that does. The
controls: CSP's best of ten orders (one for each β); averaged weights; β = 1; one pass; the true model's
posterior decoding, an upper bound on average; other substructures; and other learners. An interrupted
experiment continues where it stopped.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from streamlearn.app.workers import available_cores, spread
from streamlearn.demo.hmm import SETUPS
from tests.benchmarks.accuracy.results import Results
from tests.benchmarks.synthetic.data_sets import Sizes
from tests.benchmarks.synthetic.methods import METHODS
from tests.benchmarks.synthetic.runs import PASSES, Run, work
from tests.benchmarks.synthetic.tables import Setup, draw, markdown


def experiment(
    output: Path,
    setups: Sequence[int],
    sets: int,
    methods: Sequence[str],
    sizes: Sizes,
    passes: int,
    jobs: int,
) -> str:
    """Do all missing runs, write table.md and accuracy.png, and return the table."""
    output.mkdir(parents=True, exist_ok=True)
    results = Results(output / "results.jsonl")
    runs = [
        Run(setup, number, method, sizes, passes)
        for number in range(sets)
        for setup in setups
        for method in methods
    ]
    missing = [run for run in runs if run not in results]
    for done, (run, found) in enumerate(spread(work, None, missing, jobs), 1):
        results.add(run, found)
        print(f"{time.strftime('%H:%M:%S')} {done}/{len(missing)} {run.key}", file=sys.stderr, flush=True)
    found_by_setup = [
        Setup(
            setup,
            {
                method: [results[Run(setup, number, method, sizes, passes)] for number in range(sets)]
                for method in methods
            },
            passes,
        )
        for setup in setups
    ]
    table = markdown(found_by_setup)
    (output / "table.md").write_text(table)
    if find_spec("matplotlib"):
        draw(output / "accuracy.png", found_by_setup)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, write it and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", required=True, type=Path, help="directory of results, table and picture")
    parser.add_argument("--setups", nargs="+", type=int, default=list(SETUPS), choices=list(SETUPS))
    parser.add_argument("--sets", type=int, default=10, help="data sets a setup (default 10)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--passes", type=int, default=PASSES, help=f"default {PASSES}")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="processes (default: all cores)")
    chosen = parser.parse_args(arguments)
    # All wins are over CSP.
    methods = list(dict.fromkeys(["CSP", *chosen.methods]))
    print(
        experiment(chosen.output, chosen.setups, chosen.sets, methods, Sizes(), chosen.passes, chosen.jobs),
        end="",
    )


if __name__ == "__main__":
    main()
