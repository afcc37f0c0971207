"""Weights and active rows with the types of production, drawn so that sums are exact and ties are common."""

import numpy as np
import pytest
from hypothesis import strategies as st

from streamlearn.data import Rows
from streamlearn.kernels.chain.cells import NO_CELLS
from streamlearn.kernels.chain.lattice import Lattice, Weights
from streamlearn.kernels.chain.mask import ANYTHING, Mask
from streamlearn.kernels.chain.transitions import new_sparse_transitions
from streamlearn.kernels.chain.viterbi import new_trellis
from streamlearn.kernels.spans import NO_SPANS
from streamlearn.kernels.updates.batch_pass import Pass

PLANES = 2

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
orders = st.integers(1, 2)
both_kinds = pytest.mark.parametrize(
    "rich", [False, True], ids=["shared transitions", "transitions by position"]
)


def lengths_up_to(count):
    """Draw the lengths of up to `count` short sequences."""
    return st.lists(st.integers(1, 4), min_size=1, max_size=count)


def make_rows(rng, lengths, node_rows=6, edge_rows=4, edge_features=0, weighted=False):
    """Draw active rows, some unknown, for sequences of these lengths."""
    n = int(sum(lengths))
    node_starts = np.cumsum([0, *rng.integers(0, 4, n)])
    m = int(node_starts[-1])
    return Rows(
        starts=np.cumsum([0, *lengths]),
        node_starts=node_starts,
        node_rows=rng.integers(-1, node_rows, m).astype(np.int32),
        node_values=rng.integers(-2, 3, m) / 2 if weighted else np.empty(0),
        edge_starts=np.arange(n + 1) * edge_features,
        edge_rows=rng.integers(-1, edge_rows, n * edge_features).astype(np.int32),
        edge_singles=edge_features,
        used=(node_rows, edge_rows),
    )


def make_pass(rows, labels, n_labels, known=None, importance=1.0, plain_edges=True):
    """Return a batch to learn, with no mask, where `known` labels are known from the first sequence on."""
    sequences = len(rows.starts) - 1
    return Pass(
        rows,
        np.array(labels, np.int32),
        np.full(sequences, n_labels if known is None else known, np.int32),
        np.full(sequences, importance),
        n_labels,
        plain_edges,
        ANYTHING,
        NO_SPANS,
        predicted_out=np.empty(len(labels), np.int32),
        loss_out=np.empty(sequences),
    )


def make_weights(rng, labels, capacity, order=1, node_rows=6, edge_rows=4):
    """Draw small whole weights in the labels in use; 0 beyond."""
    node = np.zeros((node_rows, PLANES, 1, capacity))
    edge = np.zeros((edge_rows, PLANES, 1 + capacity, capacity))
    node[..., :labels] = rng.integers(-2, 3, (node_rows, PLANES, 1, labels))
    edge[:, :, : 1 + labels, :labels] = rng.integers(-2, 3, (edge_rows, PLANES, 1 + labels, labels))
    triple = np.zeros((capacity if order == 2 else 0, PLANES, 1 + capacity, capacity))
    if order == 2:
        triple[:labels, :, 1 : 1 + labels, :labels] = rng.integers(-2, 3, (labels, PLANES, labels, labels))
    return Weights(node, edge, triple)


def make_mask(rng, labels, share=0.3):
    """Forbid some first and last labels and some pairs."""

    def draw(*shape):
        return np.where(rng.random(shape) < share, -np.inf, 0.0)

    return Mask(draw(labels), draw(labels, labels), draw(labels))


def dense_scores(rows, i, labels, weights, plane, share):
    """Sum the weights of sequence `i`: emit[t][y], trans[t][y_prev][y], triple[y_prev2][y_prev][y]."""
    node, edge, triple = weights[:3]

    def weight(array, row, slot, y):
        return array[row, plane, slot, y] - share * array[row, 1, slot, y]

    emit, trans = [], []
    for t in range(rows.starts[i], rows.starts[i + 1]):
        nodes = range(rows.node_starts[t], rows.node_starts[t + 1])
        edges = [r for r in rows.edge_rows[rows.edge_starts[t] : rows.edge_starts[t + 1]] if r >= 0]
        emit.append(
            [
                sum(
                    (rows.node_values[k] if rows.node_values.size else 1.0)
                    * weight(node, rows.node_rows[k], 0, y)
                    for k in nodes
                    if rows.node_rows[k] >= 0
                )
                + sum(weight(edge, r, 0, y) for r in edges)
                for y in range(labels)
            ]
        )
        trans.append(
            [
                [sum(weight(edge, r, 1 + y_prev, y) for r in [0, *edges]) for y in range(labels)]
                for y_prev in range(labels)
            ]
        )
    triples = [
        [[weight(triple, y_prev2, 1 + y_prev, y) for y in range(labels)] for y_prev in range(labels)]
        for y_prev2 in range(labels if len(triple) else 0)
    ]
    return emit, trans, triples


def draw_scores(rng, length, labels, rich):
    """Draw emit and trans, of each position if `rich`."""
    return rng.normal(0, 2, (length, labels)), rng.normal(0, 2, (length if rich else 1, labels, labels))


def draw_ties(rng, length, labels, rich, most=1):
    """Draw emit and trans, small whole numbers, so that many labellings have equal scores."""
    emit = rng.integers(-most, most + 1, (length, labels)).astype(np.float64)
    trans = rng.integers(-most, most + 1, (length if rich else 1, labels, labels)).astype(np.float64)
    return emit, trans


def draw_triple(rng, labels, order):
    """Draw scores of triples in the same way, in the second order."""
    return rng.integers(-1, 2, (labels,) * 3).astype(np.float64) if order == 2 else None


def by_position(emit, trans):
    """Return trans of every position, where one may be shared by all."""
    return trans if len(trans) == len(emit) else np.repeat(trans, len(emit), axis=0)


def lattice_of(emit, trans, triple=None, spare=0):
    """Return a lattice with these scores; `triple` [y_prev2, y_prev, y] is of the second order.

    There is room for `spare` more positions and labels, filled with NaN.
    """
    length, labels = (size + spare for size in emit.shape)
    triples = np.empty((0, labels, labels)) if triple is None else _padded(triple.swapaxes(0, 1), spare)
    trellis = new_trellis(length, labels, len(triples))
    sums = np.empty((length, 2 * labels)), np.empty((0, 2))
    positions = spare if len(trans) > 1 else 0
    trans = _padded(trans, spare)[: len(trans) + positions]
    sparse = new_sparse_transitions(make_rows(np.random.default_rng(0), [1]), labels, NO_CELLS)
    return Lattice(*sums, _padded(emit, spare), trans, sparse, triples, trellis)


def _padded(array, spare):
    return np.pad(array, [(0, spare)] * array.ndim, constant_values=np.nan)
