"""Rows of pairs that are lists of cells: the same learning as with rows of all pairs, in less memory."""

import numpy as np
import pytest

from streamlearn.learners import room
from streamlearn.learners.base import Learner
from tests.learners import build
from tests.learners.build import make_bench
from tests.learners.streams import TEMPLATES, cut, make_stream
from tests.states import differences

KINDS = (
    "averaged_perceptron", "last_perceptron", "fading_perceptron", "margin_perceptron", "beam_perceptron",
    "early_perceptron", "swvp_of_blocks", "swvp_of_single_positions", "swvp_of_all_sets", "swvp_of_spans",
)  # fmt: skip
SECOND_ORDER = [kind for kind in KINDS if kind not in ("beam_perceptron", "early_perceptron")]
CASES = [(kind, TEMPLATES) for kind in KINDS] + [(kind, [*TEMPLATES, "T"]) for kind in SECOND_ORDER]
stream = make_stream(60, seed=4)


def learned(kind, templates, parts, dense_labels, monkeypatch):
    monkeypatch.setattr(room, "_DENSE_LABELS", dense_labels)
    bench = make_bench(templates, learner=getattr(build, kind))
    losses = [bench.tagger.learn_batch(bench.tagger.encode(part).batch).losses for part in parts]
    return bench, np.concatenate(losses)


def weights_of(bench):
    rows = [np.arange(used, dtype=np.int32) for used in bench.tagger.rows_used]
    return bench.tagger.weights_of(*rows)


@pytest.mark.parametrize(("kind", "templates"), CASES)
def test_cells_learn_what_rows_of_all_pairs_learn(kind, templates, monkeypatch):
    dense, dense_losses = learned(kind, templates, [stream], 32, monkeypatch)
    plain = weights_of(dense)
    plain_labels = dense.tagger.predict_many(stream)
    cells, losses = learned(kind, templates, [stream], 0, monkeypatch)
    assert len(cells.learner._weights.arrays.cells.heads)
    assert np.allclose(losses, dense_losses)
    for one, two in zip(weights_of(cells), plain, strict=True):
        assert np.allclose(one, two, atol=1e-12)
    assert cells.tagger.predict_many(stream) == plain_labels


@pytest.mark.parametrize("kind", KINDS)
def test_neither_batches_nor_restarts_change_when_rows_become_cells(kind, monkeypatch):
    whole, losses = learned(kind, TEMPLATES, [stream], 3, monkeypatch)
    parts, part_losses = learned(kind, TEMPLATES, cut(stream, [1, 13, 4, 9]), 3, monkeypatch)
    assert np.array_equal(losses, part_losses)
    restored = make_bench(TEMPLATES, learner=getattr(build, kind))
    for part in cut(stream, [7, 20, 11]):
        restored.tagger.learn_many(part)
        state = restored.tagger.state()
        restored = make_bench(TEMPLATES, learner=getattr(build, kind))
        restored.tagger.restore(state)
    for bench in (parts, restored):
        assert differences(bench.tagger.state()["learner"], whole.tagger.state()["learner"]) == []


def test_the_best_labellings_of_cells_are_those_of_rows(monkeypatch):
    dense, _ = learned("averaged_perceptron", TEMPLATES, [stream], 32, monkeypatch)
    batch = dense.tagger.encode(stream, learn=False).batch
    wanted = dense.tagger.explain_batch(batch, k_best=3)
    cells, _ = learned("averaged_perceptron", TEMPLATES, [stream], 0, monkeypatch)
    found = cells.tagger.explain_batch(cells.tagger.encode(stream, learn=False).batch, k_best=3)
    for one, two in zip(found, wanted, strict=True):
        assert [round(each.score, 9) for each in one.alternatives] == [
            round(each.score, 9) for each in two.alternatives
        ]


def test_resetting_the_average_resets_that_of_cells(monkeypatch):
    cells, _ = learned("averaged_perceptron", TEMPLATES, [stream], 0, monkeypatch)
    learner: Learner = cells.learner
    learner.remedies()["reset_average"]()
    kept = learner._weights.arrays.cells
    assert kept.values[:, 0].any()
    assert not kept.values[:, 1].any()


def test_full_cells_refuse_changes_and_count_them_however_the_stream_is_cut(monkeypatch):
    monkeypatch.setattr(room.Room, "cells", lambda *_: 25)
    whole, _ = learned("averaged_perceptron", TEMPLATES, [stream], 2, monkeypatch)
    parts, _ = learned("averaged_perceptron", TEMPLATES, cut(stream, [3, 9, 17]), 2, monkeypatch)
    assert whole.learner.refused == whole.tagger.gauges()["features_refused"] > 100
    assert differences(parts.tagger.state()["learner"], whole.tagger.state()["learner"]) == []
