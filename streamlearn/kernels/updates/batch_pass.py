"""What every learner's pass over a batch reads, and where it writes."""

from typing import NamedTuple

from streamlearn.data import Rows
from streamlearn.kernels.arrays import Floats, Int32s
from streamlearn.kernels.chain.mask import Mask
from streamlearn.kernels.spans import SpanMarks


class Pass(NamedTuple):
    """A batch of N sequences with n positions, to be predicted and then learned in order.

    Attributes
    ----------
    rows : the active rows of the weights.
    labels : int32[n], gold label numbers.
    labels_known : int32[N], the number of labels known once each sequence has been read.
    importance : float64[N], weight of each sequence.
    n_labels : labels known before the first sequence. Only labels known before a sequence are predicted.
    plain_edges : whether transitions that do not depend on the position are learned.
    mask : of predictions; updates ignore it.
    marks : what the labels mean for spans.
    predicted_out : int32[n], the prediction of the weights before they learn the sequence; -1 while no label
        is known.
    loss_out : float64[N], the learner's loss of each sequence before its update.
    """

    rows: Rows
    labels: Int32s
    labels_known: Int32s
    importance: Floats
    n_labels: int
    plain_edges: bool
    mask: Mask
    marks: SpanMarks
    predicted_out: Int32s
    loss_out: Floats
