"""Φ(x, y) − Φ(x, z) as a sparse vector that has every weight once, however often its features fire.

A feature that fires at several positions, or in both labellings, adds to one weight or cancels there, so
that squares of the difference can only be taken of the sums. They are added up in scratch arrays, like one
plane of the weights, that are all 0 between sequences.
"""

from collections import namedtuple

import numpy as np

from streamlearn.kernels.jit import kernel
from streamlearn.kernels.sizes import longest_sequence, most_active
from streamlearn.kernels.updates.perceptron import add_difference

# row int64[·], at int64[·]: slot · capacity + label; by float64[·], never 0.
Sparse = namedtuple("Sparse", "row at by")


@kernel
def _room(size):
    return Sparse(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@kernel
def new_difference(rows):
    """Allocate what any sequence of `rows` needs: a Sparse of nodes, of edges, and of triples."""
    longest = longest_sequence(rows.starts)
    active = most_active(rows.starts, rows.edge_starts) if rows.edge_rows.size else 0
    # Each active row fires with two labels, and with two pairs.
    singles = _room(2 * most_active(rows.starts, rows.node_starts))
    return singles, _room(4 * active + 2 * longest), _room(2 * longest)


@kernel
def _take(row, scratch, out, n):
    """Move what a row of `scratch` float64[row, ·] holds to `out`, and give how many it holds then."""
    for s in range(scratch.shape[1]):
        if scratch[row, s]:
            out.row[n], out.at[n], out.by[n] = row, s, scratch[row, s]
            scratch[row, s] = 0.0
            n += 1
    return n


@kernel
def _trim(vector, n):
    return Sparse(vector.row[:n], vector.at[:n], vector.by[:n])


@kernel
def difference(rows, first, gold, path, plain_edges, scratch, out):
    """Give Φ(x, gold) − Φ(x, path) of the sequence that begins at `first`.

    Parameters
    ----------
    scratch : Weights of one plane, all 0 before and after.
    out : room, as `new_difference` made it.

    Returns
    -------
    A Sparse of nodes, of edges, and of triples: views of `out`.
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
                    singles = _take(rows.node_rows[i], node, out[0], singles)
        if rows.edge_rows.size and (gold[t] != path[t] or (t > 0 and gold[t - 1] != path[t - 1])):
            for i in range(rows.edge_starts[at], rows.edge_starts[at + 1]):
                if rows.edge_rows[i] >= 0:
                    pairs = _take(rows.edge_rows[i], edge, out[1], pairs)
        if triple.size and t > 1 and (gold[t - 2 : t + 1] != path[t - 2 : t + 1]).any():
            triples = _take(gold[t - 2], triple, out[2], triples)
            triples = _take(path[t - 2], triple, out[2], triples)
    if plain_edges:
        pairs = _take(0, edge, out[1], pairs)
    return _trim(out[0], singles), _trim(out[1], pairs), _trim(out[2], triples)
