"""A linear-chain CRF trained by ADF (Sun, Li, Wang & Lu 2014, figure 1), with lazy updates, on a stream.

Each row of the weights has its own learning rate γ. At the end of a window of q sequences, γ ← γ · η with
η = α − (α − β) · v / q, where v is the number of sequences of the window in which the row was active: the
rates of frequent features decay fast, those of rare ones slowly. The L2 term is applied at the same time,
with the new rate: w ← w · (1 − γ · λ · q) with λ = 1 / (N σ²), where N is the number of sequences seen so
far; it never changes the sign of a weight.

Rows that are not active are not visited. A row catches up with the windows that have ended since its last
update when it is next active (`_pending`, `_apply`), to the same values as if it had been updated each time.

`meta[row]` holds (rate, count v, window that the row is up to date with, sequences seen when it was last
counted, and for AVERAGE_EXPONENTIAL the number of sequences in the average). Windows are numbered from 1, so
that a row of zeros has never been active. Plane 0 of the weights is w. Plane 1, if there is one, belongs to
the average: for AVERAGE_ALL it is the sum u of count · Δ over all changes Δ of w, as for the perceptron; for
AVERAGE_EXPONENTIAL it is the average E itself, E ← ρ E + (1 − ρ) w after each sequence.
"""

from typing import NamedTuple

import numpy as np

from streamlearn.kernels.arrays import Floats, Int32s
from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.averaging import AVERAGE_ALL, AVERAGE_EXPONENTIAL, AVERAGE_NONE
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.gradient import add_gradient, new_gradient, predict_and_differentiate

RATE, COUNT, WINDOW, COUNTED, AVERAGED = 0, 1, 2, 3, 4


class RateSchedule(NamedTuple):
    """The learning rates of ADF, and how weights are averaged.

    Attributes
    ----------
    rate : c, of a new row.
    is_late : whether a new row starts with the rate that it would have if it had existed since `since`.
    since : the window in which rates were last reset.
    keep_rare, keep_frequent : α and β.
    window : q, sequences in the first window.
    growth : length of each window relative to the one before.
    min_rate : lower bound of every rate.
    inverse_variance : 1 / σ² of the Gaussian prior; 0 without L2.
    average : as `Averaging.kind`.
    retain : ρ, of the exponential average.
    """

    rate: float
    is_late: bool
    since: int
    keep_rare: float
    keep_frequent: float
    window: int
    growth: float
    min_rate: float
    inverse_variance: float
    average: int
    retain: float


@inner_kernel
def window_end(number, schedule):
    """Return the number of sequences after which window `number` ends; 0 for number 0."""
    if schedule.growth == 1.0:
        return number * schedule.window
    total = (schedule.growth**number - 1.0) / (schedule.growth - 1.0)
    return int(np.floor(schedule.window * total))


@inner_kernel
def _pending(rows, meta, window, seen, schedule, pending_out):
    """Bring the rates of rows up to date, and write the updates that their weights and averages then need.

    Parameters
    ----------
    rows : int32[·], rows that have been active before.
    window : the current window.
    seen : the number of sequences that an exponential average is to include.
    pending_out : float64[·, 3], (scale, keep, add) of each: w ← scale · w and plane 1 ← keep · plane 1 +
        add · (old w).
    """
    fades = schedule.average == AVERAGE_EXPONENTIAL
    for i in range(rows.size):
        row = rows[i]
        scale, keep, add = 1.0, 1.0, 0.0
        rate, first = meta[row, RATE], int(meta[row, WINDOW])
        averaged = meta[row, AVERAGED] if fades else 0.0
        end = window_end(first - 1, schedule)
        for number in range(first, window):
            begin, end = end, window_end(number, schedule)
            eta = schedule.keep_rare
            if number == first:
                eta -= (schedule.keep_rare - schedule.keep_frequent) * meta[row, COUNT] / (end - begin)
            rate = max(rate * eta, schedule.min_rate)
            if schedule.inverse_variance:
                shrink = min(rate * schedule.inverse_variance * (end - begin) / end, 1.0)
                if schedule.average == AVERAGE_ALL:
                    add -= (end - 1) * scale * shrink
                elif fades:
                    # The last sequence of a window enters the average with the weights after the L2 term.
                    stay = schedule.retain ** (end - 1 - averaged)
                    keep, add, averaged = stay * keep, stay * add + (1.0 - stay) * scale, end - 1.0
                scale *= 1.0 - shrink
        if fades:
            stay = schedule.retain ** (seen - averaged)
            keep, add = stay * keep, stay * add + (1.0 - stay) * scale
            meta[row, AVERAGED] = seen
        if first != window:
            meta[row, RATE], meta[row, WINDOW], meta[row, COUNT] = rate, window, 0.0
        pending_out[i, 0], pending_out[i, 1], pending_out[i, 2] = scale, keep, add


@inner_kernel
def _apply(rows, weights, averages, pending):
    """Apply pending updates to rows of `weights`, float64[R, plane · ·], and to plane 1 if `averages`."""
    # A loop of its own: the processor fetches the weights of several rows at once.
    half = weights.shape[1] // 2
    for i in range(rows.size):
        row, scale, keep, add = rows[i], pending[i, 0], pending[i, 1], pending[i, 2]
        if averages:
            for s in range(half):
                weights[row, half + s] = keep * weights[row, half + s] + add * weights[row, s]
                weights[row, s] *= scale
        elif scale != 1.0:
            for s in range(weights.shape[1]):
                weights[row, s] *= scale


@inner_kernel
def _catch_up(rows, weights, meta, window, seen, importance, schedule, stale, pending, steps_out):
    """Bring active rows up to date, count each once for its sequence, and write importance · rate of each.

    `stale` int32[2, ·] and `pending` float64[·, 3] have room for all of them, and are overwritten.
    """
    fades = schedule.average == AVERAGE_EXPONENTIAL
    n = 0
    for i in range(rows.size):
        row = rows[i]
        if row >= 0:
            if fades or meta[row, WINDOW] != window:
                if meta[row, WINDOW]:
                    stale[0, n], stale[1, n] = row, i
                    n += 1
                    continue
                late = schedule.keep_rare ** (window - schedule.since) if schedule.is_late else 1.0
                meta[row, RATE] = max(schedule.rate * late, schedule.min_rate)
                meta[row, WINDOW], meta[row, COUNTED] = window, -1.0
                if fades:
                    meta[row, AVERAGED] = seen
            if meta[row, COUNTED] != seen:
                meta[row, COUNT] += 1.0
                meta[row, COUNTED] = seen
            steps_out[i] = importance * meta[row, RATE]
    _pending(stale[0, :n], meta, window, seen, schedule, pending)
    flat = weights.reshape(weights.shape[0], weights[0].size)
    _apply(stale[0, :n], flat, schedule.average != AVERAGE_NONE, pending)
    # The same as above for rows that were up to date. A function would not be inlined but called for each.
    for k in range(n):
        row = stale[0, k]
        if meta[row, COUNTED] != seen:
            meta[row, COUNT] += 1.0
            meta[row, COUNTED] = seen
        steps_out[stale[1, k]] = importance * meta[row, RATE]


@kernel
def adf_pass(
    batch: Pass, seen: int, window: int, schedule: RateSchedule, weights: Weights, metas: tuple[Floats, ...]
) -> int:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is −log P(gold | x) before its update.

    Parameters
    ----------
    seen : sequences learned before this batch; window : the window that the next one belongs to.
    weights : of the planes that the schedule's average needs, changed in place.
    metas : (float64[node rows, 4], float64[edge rows, 4], float64[triple rows, 4]), or 5 with an exponential
        average. The rows of triples, one for each label two positions back, are active in all sequences of
        three positions or more: all of their weights have a gradient there.

    Returns
    -------
    The window of the next sequence.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    node, edge, triple = weights.node, weights.edge, weights.triple
    step = new_gradient(rows, max(n_labels, known_after[-1]), node.shape[1], weights)
    plain = step.implicit[: 1 if batch.plain_edges else 0]
    most = max(step.node_steps.size, step.edge_steps.size, step.implicit.size)
    stale, pending = np.empty((2, most), np.int32), np.empty((most, 3))
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        weight, L = batch.importance[i], known_after[i]
        active = rows.node_rows[rows.node_starts[first] : rows.node_starts[last]]
        _catch_up(active, node, metas[0], window, seen, weight, schedule, stale, pending, step.node_steps)
        if rich:
            active = rows.edge_rows[rows.edge_starts[first] : rows.edge_starts[last]]
            _catch_up(active, edge, metas[1], window, seen, weight, schedule, stale, pending, step.edge_steps)
        active = step.implicit[: L if triple.size and last - first > 2 else 0]
        _catch_up(active, triple, metas[2], window, seen, weight, schedule, stale, pending, step.triple_steps)
        _catch_up(plain, edge, metas[1], window, seen, weight, schedule, stale, pending, step.plain_steps)
        plane, share = prediction_plane(schedule, seen)
        batch.loss_out[i] = predict_and_differentiate(batch, i, n_labels, plane, share, weights, step)
        factor = float(seen) if schedule.average == AVERAGE_ALL else 0.0
        add_gradient(rows, first, last - first, L, factor, weights, step)
        n_labels = L
        seen += 1
        if seen == window_end(window, schedule):
            window += 1
    return window


@inner_kernel
def prediction_plane(schedule: RateSchedule, seen: int) -> tuple[int, float]:
    """Return the plane that predicts, and the multiple of plane 1 that is subtracted from it."""
    if schedule.average == AVERAGE_EXPONENTIAL:
        return 1, 0.0
    return 0, 1.0 / seen if schedule.average == AVERAGE_ALL and seen > 0 else 0.0


@kernel
def caught_up(
    rows: Int32s,
    weights: Floats,
    meta: Floats,
    window: int,
    seen: int,
    schedule: RateSchedule,
    weights_out: Floats,
) -> None:
    """Write the current values of some rows, int32[R]; `weights` do not change.

    `weights_out` is shaped like R rows of `weights`.
    """
    size = weights[0].size
    flat, flat_out = weights.reshape(weights.shape[0], size), weights_out.reshape(rows.size, size)
    meta_out = np.empty((rows.size, meta.shape[1]))
    for i in range(rows.size):
        flat_out[i] = flat[rows[i]]
        meta_out[i] = meta[rows[i]]
    _catch_up_all(flat_out, meta_out, window, seen, schedule)


@kernel
def _catch_up_all(weights, meta, window, seen, schedule):
    """Bring all rows that have been active up to date, and return them."""
    active = np.flatnonzero(meta[:, WINDOW]).astype(np.int32)
    pending = np.empty((active.size, 3))
    _pending(active, meta, window, seen, schedule, pending)
    _apply(active, weights, schedule.average != AVERAGE_NONE, pending)
    return active


@kernel
def rewarm(weights: Floats, meta: Floats, window: int, seen: int, schedule: RateSchedule) -> None:
    """Reset the rate of every row to that of a new one, after it has caught up with its old rate."""
    flat = weights.reshape(weights.shape[0], weights[0].size)
    for row in _catch_up_all(flat, meta, window, seen, schedule):
        meta[row, RATE] = schedule.rate
