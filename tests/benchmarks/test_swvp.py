"""The synthetic experiment, small, so that it works when it is wanted."""

from pathlib import Path
from statistics import fmean

import pytest

from tests.benchmarks.swvp import experiment
from tests.benchmarks.synthetic import methods, tables
from tests.benchmarks.synthetic.data_sets import DataSet, Sizes
from tests.benchmarks.synthetic.runs import Run, work

SIZES = Sizes(120, 60, 60)
METHODS = ["CSP", "A-WMR", "perceptron, fading"]


def measure(output: Path) -> str:
    return experiment(output, [1, 3], 2, METHODS, SIZES, 2, jobs=1)


def test_it_measures_once_and_goes_on_where_it_was(tmp_path: Path) -> None:
    table = measure(tmp_path)
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:] if "|" in line
    ]
    assert [row[:2] for row in rows] == [[s, name] for s in "13" for name in [*METHODS, "true model"]]
    means = {(row[0], row[1]): float(row[2].split()[0]) for row in rows if row[2]}
    assert all(20 < mean <= 100 for mean in means.values())
    assert means["1", "true model"] > means["1", "CSP"]
    assert (tmp_path / "table.md").read_text() == table
    kept = (tmp_path / "results.jsonl").read_text()
    assert measure(tmp_path) == table
    assert (tmp_path / "results.jsonl").read_text() == kept


def test_it_draws_all_setups(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs the extra 'study'")
    measure(tmp_path)
    assert (tmp_path / "accuracy.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_gives_every_setting_a_score(method: str) -> None:
    found = work(None, Run(2, 0, method, Sizes(30, 10, 10), 2))
    chosen = methods.METHODS[method]
    assert len(found["scores"]) == len(chosen.settings)
    wanted = {"last 1", "averaged 1"} if chosen.once else {"last 1", "averaged 1", "last 2", "averaged 2"}
    assert all(scores.keys() == wanted for scores in found["scores"])
    assert all(
        0 <= accuracy <= 1 for scores in found["scores"] for pair in scores.values() for accuracy in pair
    )


def test_settings_are_chosen_on_dev_and_judged_on_test() -> None:
    found = {"scores": [{"last 1": (0.7, 0.61)}, {"last 1": (0.8, 0.6)}, {"last 1": (0.8, 0.9)}]}
    assert tables.chosen(found, "last 1") == 0.6
    assert not tables.generalises(found, "last 1")
    assert tables.generalises({"scores": found["scores"][:1]}, "last 1")
    near = {"scores": [{"last 1": (0.9, 0.6)}, {"last 1": (0.8, 0.604)}]}
    assert tables.generalises(near, "last 1")


def test_the_ceiling_is_that_of_the_model_which_drew_the_data() -> None:
    data = DataSet.draw(1, 0, Sizes(10, 3000, 3000))
    again = DataSet.draw(1, 0, Sizes(10, 3000, 3000))
    assert all((one == two).all() for one, two in zip(data.words, again.words, strict=True))
    assert not (DataSet.draw(1, 1, SIZES).words[0] == DataSet.draw(1, 2, SIZES).words[0]).all()
    assert 0.6 < fmean(data.ceiling) < 0.95
    assert sorted(map(str, data.examples(0, order=1))) == sorted(map(str, data.examples(0)))
    assert data.examples(0, order=1) != data.examples(0)
