"""Φ(x, y) − Φ(x, z) as a sparse vector with one entry for each weight, however often its features fire.

A feature that fires at several positions, or in both labellings, contributes to the same weight several
times, and may cancel: the difference can be squared only after summing. The sums are computed in scratch
arrays, shaped like one plane of the weights, that are all 0 between sequences.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import kernel
from streamlearn.kernels.sizes import longest_sequence, most_active
from streamlearn.kernels.updates.perceptron import add_difference

# row int64[·]; column int64[·], slot · capacity + label; value float64[·], never 0.
Sparse = namedtuple("Sparse", "row column value")


@kernel
def _new_sparse(size):
    return Sparse(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@kernel
def new_difference(rows):
    """Allocate for any sequence of `rows`: a Sparse each of nodes, edges and triples."""
    longest = longest_sequence(rows.starts)
    active = most_active(rows.starts, rows.edge_starts) if rows.edge_rows.size else 0
    # Each active row fires with two labels, and with two pairs.
    singles = _new_sparse(2 * most_active(rows.starts, rows.node_starts))
    return singles, _new_sparse(4 * active + 2 * longest), _new_sparse(2 * longest)


@kernel
def _collect(row, scratch, out, n):
    """Move the entries of a row of `scratch` float64[row, ·] to `out`; return how many `out` holds then."""
    for s in range(scratch.shape[1]):
        if scratch[row, s]:
            out.row[n], out.column[n], out.value[n] = row, s, scratch[row, s]
            scratch[row, s] = 0.0
            n += 1
    return n


@kernel
def _trim(vector, n):
    return Sparse(vector.row[:n], vector.column[:n], vector.value[:n])


@kernel
def difference(rows, first, gold, path, plain_edges, scratch, out):
    """Return Φ(x, gold) − Φ(x, path) of the sequence that begins at `first`.

    Parameters
    ----------
    scratch : Weights of one plane, all 0 before and after.
    out : as returned by `new_difference`; overwritten.

    Returns
    -------
    A Sparse each of nodes, edges and triples: views of `out`.
    """
    node = scratch.node.reshape(scratch.node.shape[0], scratch.node[0].size)
    edge = scratch.edge.reshape(scratch.edge.shape[0], scratch.edge[0].size)
    triple = scratch.triple.reshape(scratch.triple.shape[0], scratch.triple[0].size)
    add_difference(rows, first, gold, path, 1.0, 0.0, plain_edges, scratch)
    singles, pairs, triples = 0, 0, 0
    for t in range(gold.size):
        at = first + t
        if gold[t] != path[t]:
            for i in range(rows.node_starts[at], rows.node_starts[at + 1]):
                if rows.node_rows[i] >= 0:
                    singles = _collect(rows.node_rows[i], node, out[0], singles)
        if rows.edge_rows.size and (gold[t] != path[t] or (t > 0 and gold[t - 1] != path[t - 1])):
            for i in range(rows.edge_starts[at], rows.edge_starts[at + 1]):
                if rows.edge_rows[i] >= 0:
                    pairs = _collect(rows.edge_rows[i], edge, out[1], pairs)
        if triple.size and t > 1 and (gold[t - 2 : t + 1] != path[t - 2 : t + 1]).any():
            triples = _collect(gold[t - 2], triple, out[2], triples)
            triples = _collect(path[t - 2], triple, out[2], triples)
    if plain_edges:
        pairs = _collect(0, edge, out[1], pairs)
    return _trim(out[0], singles), _trim(out[1], pairs), _trim(out[2], triples)
