"""A linear-chain CRF trained by ADF (Sun, Li, Wang & Li 2014, figure 1), lazily, on an endless stream.

Each row of the weights has a learning rate γ of its own. At the end of a window of q sequences, γ ← γ · η
with η = α − (α − β) · v / q, where v is the number of sequences of the window in which the row was active:
frequent features cool down fast, rare ones stay warm. The L2 term is applied there too, with the new rate:
w ← w · (1 − γ · λ · q) with λ = 1 / (N σ²), where N is the number of sequences seen so far. No weight is
pushed beyond 0.

Nothing is done for rows that are not active: what the closed windows owe to a row is settled when it is
touched again (`_owed`, `_pay`), to the same values as if it had been done at once.

`meta[row]` holds (rate, count v, window of the last settlement, sequences seen when it was counted last, and
for AVERAGE_EXPONENTIAL the sequences that are in the average); windows are numbered from 1, so that a row of
zeros has never been touched. Plane 0 of the weights is w. Plane 1, if
there is one, belongs to the average: for AVERAGE_ALL the total u of count · Δ over all changes Δ of w, as
for the perceptron; for AVERAGE_EXPONENTIAL the average E itself, E ← ρ E + (1 − ρ) w after each sequence.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlearn.kernels.chain.lattice import Weights
from streamlearn.kernels.jit import inner_kernel, kernel
from streamlearn.kernels.updates.averaging import AVERAGE_ALL, AVERAGE_EXPONENTIAL, AVERAGE_NONE
from streamlearn.kernels.updates.batch_pass import Pass
from streamlearn.kernels.updates.gradient import climb, new_ascent, predict_and_differentiate

RATE, COUNT, WINDOW, COUNTED, AVERAGED = 0, 1, 2, 3, 4


class Schedule(NamedTuple):
    """The learning rates of ADF, and how weights are averaged.

    Attributes
    ----------
    rate : c, of a new row.
    is_late : whether a new row starts with the rate that it would have, had it been there since `since`.
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
    """Give the number of sequences after which window `number` is over; 0 for number 0."""
    if schedule.growth == 1.0:
        return number * schedule.window
    total = (schedule.growth**number - 1.0) / (schedule.growth - 1.0)
    return int(np.floor(schedule.window * total))


@inner_kernel
def _owed(rows, meta, window, seen, schedule, owed_out):
    """Bring rates up to now, and tell what the weights and averages owe; nothing is owed twice.

    Parameters
    ----------
    rows : int32[·], rows that have been active before.
    window : the window now.
    seen : the sequences seen, up to which an exponential average is brought.
    owed_out : float64[·, 3], (scale, keep, add) of each: w ← scale · w and plane 1 ← keep · plane 1 + add ·
        (old w).
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
                    # The sequence that closes a window is averaged with what the close left.
                    stay = schedule.retain ** (end - 1 - averaged)
                    keep, add, averaged = stay * keep, stay * add + (1.0 - stay) * scale, end - 1.0
                scale *= 1.0 - shrink
        if fades:
            stay = schedule.retain ** (seen - averaged)
            keep, add = stay * keep, stay * add + (1.0 - stay) * scale
            meta[row, AVERAGED] = seen
        if first != window:
            meta[row, RATE], meta[row, WINDOW], meta[row, COUNT] = rate, window, 0.0
        owed_out[i, 0], owed_out[i, 1], owed_out[i, 2] = scale, keep, add


@inner_kernel
def _pay(rows, weights, averages, owed):
    """Let rows of `weights`, float64[R, plane · ·], pay what they owe; `averages`: whether plane 1 does."""
    # A loop of its own: the processor fetches the weights of several rows at once.
    half = weights.shape[1] // 2
    for i in range(rows.size):
        row, scale, keep, add = rows[i], owed[i, 0], owed[i, 1], owed[i, 2]
        if averages:
            for s in range(half):
                weights[row, half + s] = keep * weights[row, half + s] + add * weights[row, s]
                weights[row, s] *= scale
        elif scale != 1.0:
            for s in range(weights.shape[1]):
                weights[row, s] *= scale


@inner_kernel
def _settle(rows, weights, meta, window, seen, importance, schedule, stale, owed, steps_out):
    """Bring active rows up to now, count each once for its sequence, and give importance · rate.

    `stale` int32[2, ·] and `owed` float64[·, 3] are room for as many rows.
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
    _owed(stale[0, :n], meta, window, seen, schedule, owed)
    flat = weights.reshape(weights.shape[0], weights[0].size)
    _pay(stale[0, :n], flat, schedule.average != AVERAGE_NONE, owed)
    # The same as for rows that owe nothing: as a function it would not be inlined, but called for every row.
    for k in range(n):
        row = stale[0, k]
        if meta[row, COUNTED] != seen:
            meta[row, COUNT] += 1.0
            meta[row, COUNTED] = seen
        steps_out[stale[1, k]] = importance * meta[row, RATE]


@kernel
def adf_pass(
    batch: Pass,
    seen: int,
    window: int,
    schedule: Schedule,
    weights: Weights,
    metas: tuple[NDArray[np.float64], ...],
) -> int:
    """Predict, then learn, every sequence of a batch in order.

    The loss of a sequence is −log P(gold | x) before its update.

    Parameters
    ----------
    seen : sequences learned before this batch; window : the window that the next one belongs to.
    weights : of as many planes as the schedule's average needs, changed in place.
    metas : (float64[node rows, 4], float64[edge rows, 4], float64[triple rows, 4]), or 5 with an exponential
        average. The rows of triples, one for each label two positions back, are active in all sequences
        that are long enough: each of their weights has a slope there.

    Returns
    -------
    The window of the next sequence.
    """
    rows, n_labels, known_after = batch.rows, batch.n_labels, batch.labels_known
    node, edge, triple = weights
    ascent = new_ascent(rows, max(n_labels, known_after[-1]), node.shape[1], weights)
    plain = ascent.fixed[: 1 if batch.plain_edges else 0]
    stale = np.empty((2, max(ascent.node_steps.size, ascent.edge_steps.size, ascent.fixed.size)), np.int32)
    owed = np.empty((stale.shape[1], 3))
    rich = rows.edge_rows.size > 0
    for i in range(rows.starts.size - 1):
        first, last = rows.starts[i], rows.starts[i + 1]
        weight, L = batch.importance[i], known_after[i]
        active = rows.node_rows[rows.node_starts[first] : rows.node_starts[last]]
        _settle(active, node, metas[0], window, seen, weight, schedule, stale, owed, ascent.node_steps)
        if rich:
            active = rows.edge_rows[rows.edge_starts[first] : rows.edge_starts[last]]
            _settle(active, edge, metas[1], window, seen, weight, schedule, stale, owed, ascent.edge_steps)
        active = ascent.fixed[: L if triple.size and last - first > 2 else 0]
        _settle(active, triple, metas[2], window, seen, weight, schedule, stale, owed, ascent.triple_steps)
        _settle(plain, edge, metas[1], window, seen, weight, schedule, stale, owed, ascent.plain_steps)
        plane, share = averaging(schedule, seen)
        batch.loss_out[i] = predict_and_differentiate(batch, i, n_labels, plane, share, weights, ascent)
        count = float(seen) if schedule.average == AVERAGE_ALL else 0.0
        climb(rows, first, last - first, L, count, weights, ascent)
        n_labels = L
        seen += 1
        if seen == window_end(window, schedule):
            window += 1
    return window


@inner_kernel
def averaging(schedule, seen):
    """Tell which plane, minus which share of plane 1, predictions are made with."""
    if schedule.average == AVERAGE_EXPONENTIAL:
        return 1, 0.0
    return 0, 1.0 / seen if schedule.average == AVERAGE_ALL and seen > 0 else 0.0


@kernel
def settled(rows, weights, meta, window, seen, schedule, weights_out):
    """Write the weights of some rows as they are now, changing nothing.

    `rows` is int32[R]; `weights_out` is shaped like R rows of `weights`.
    """
    size = weights[0].size
    flat, flat_out = weights.reshape(weights.shape[0], size), weights_out.reshape(rows.size, size)
    meta_out = np.empty((rows.size, meta.shape[1]))
    for i in range(rows.size):
        flat_out[i] = flat[rows[i]]
        meta_out[i] = meta[rows[i]]
    _pay_all(flat_out, meta_out, window, seen, schedule)


@kernel
def _pay_all(weights, meta, window, seen, schedule):
    """Let all rows that have been active pay what they owe, and give them."""
    active = np.flatnonzero(meta[:, WINDOW]).astype(np.int32)
    owed = np.empty((active.size, 3))
    _owed(active, meta, window, seen, schedule, owed)
    _pay(active, weights, schedule.average != AVERAGE_NONE, owed)
    return active


@kernel
def rewarm(weights, meta, window, seen, schedule):
    """Give every row the rate of a new one, once it has paid what it owes under the old one."""
    for row in _pay_all(weights.reshape(weights.shape[0], weights[0].size), meta, window, seen, schedule):
        meta[row, RATE] = schedule.rate
