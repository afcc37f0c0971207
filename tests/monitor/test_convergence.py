import numpy as np
import pytest

from streamlearn.monitor.convergence import Convergence


class Model:
    """Weights as they are, one label more than rows show where `labels` says so."""

    def __init__(self, node, edge):
        self.node, self.edge = np.array(node, float), np.array(edge, float)

    @property
    def rows_used(self):
        return len(self.node), len(self.edge)

    def weights_of(self, node_rows, edge_rows):
        return self.node[node_rows], self.edge[edge_rows]


def random_model(rows, seed, labels=2):
    rng = np.random.default_rng(seed)
    # As with real features, the first rows weigh most.
    scale = 1 / np.sqrt(1 + np.arange(rows))[:, None]
    return Model(rng.normal(size=(rows, labels)) * scale, rng.normal(size=(1, 1 + labels, labels)))


def after(*models):
    convergence = Convergence(clock=lambda: 0.0)
    for model in models:
        convergence.add(2000, 1.0)
        convergence.compare(model)
    return convergence.gauges()


def test_a_small_model_is_compared_as_a_whole():
    one, two = random_model(500, 0), random_model(500, 1)
    change = np.sqrt(((one.node - two.node) ** 2).sum() + ((one.edge - two.edge) ** 2).sum())
    norm = np.sqrt((two.node**2).sum() + (two.edge**2).sum())
    gauges = after(one, two)
    assert gauges["weights_norm"] == pytest.approx(norm)
    assert gauges["update_norm"] == pytest.approx(change)
    assert gauges["weight_delta_ratio"] == pytest.approx(change / norm)
    assert gauges["weight_delta_sequences"] == 2000


def test_of_a_large_model_a_sample_comes_close():
    one, two = random_model(200_000, 0), random_model(200_000, 1)
    gauges = after(one, two)
    assert gauges["weights_norm"] == pytest.approx(np.sqrt((two.node**2).sum()), rel=0.1)
    assert gauges["update_norm"] == pytest.approx(np.sqrt(((one.node - two.node) ** 2).sum()), rel=0.1)


@pytest.mark.parametrize("rows", [300, 20_000, 70_000])
def test_new_rows_and_labels_count_as_changed_from_zero_and_old_ones_as_unchanged(rows):
    old = random_model(rows, 0)
    new = Model(np.zeros((2 * rows, 3)), np.zeros((1, 4, 3)))
    new.node[:rows, :2], new.edge[:, :3, :2] = old.node, old.edge
    assert after(old, new)["update_norm"] == 0
    new.node[: 2 * rows, 2] = 1.0
    assert after(old, new)["update_norm"] == pytest.approx(np.sqrt(2 * rows), rel=0.01)


def test_before_the_end_of_the_first_interval_nothing_is_known():
    convergence = Convergence()
    convergence.add(1999, 1.0)
    assert not convergence.is_due
    assert convergence.gauges() == {}
    convergence.add(1, 1.0)
    assert convergence.is_due


def test_intervals_grow_until_measuring_is_cheap():
    now = iter(range(100))
    convergence = Convergence(clock=lambda: next(now))
    for sequences, is_due in ((2000, True), (2000, False), (2000, True), (7999, False), (1, True)):
        convergence.add(sequences, 1.0)
        assert convergence.is_due == is_due
        if is_due:
            convergence.compare(random_model(3, 0))


def test_a_restored_model_has_a_norm_at_once_but_no_change_yet():
    convergence, model = Convergence(), random_model(500, 0)
    convergence.compare(model)
    assert convergence.gauges().keys() == {"weights_norm"}
    convergence.add(1999, 1.0)
    assert not convergence.is_due
    convergence.add(1, 1.0)
    assert convergence.is_due, "measuring once at the start makes no interval longer"


def test_weights_that_are_not_finite_show():
    assert after(Model([[np.nan]], [[[1.0]]]))["weights_norm"] == np.inf
