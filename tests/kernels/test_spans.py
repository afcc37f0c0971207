import numpy as np

from streamlearn.kernels.spans import BEGINS, INSIDE, count_spans, fade


def test_all_counts_of_two_sequences_by_hand():
    # Labels: O, B, I of one type. The span (0, 1) is right; (3, 3) is predicted as (3, 4).
    gold = np.array([1, 2, 0, 1, 0, 0], np.int32)
    predicted = np.array([1, 2, 0, 1, 2, 0], np.int32)
    sequences = np.full((2, 7), -1)
    types, labels = np.zeros((1, 3), np.int64), np.zeros((3, 3), np.int64)
    marks, kinds = np.array([0, INSIDE | BEGINS, INSIDE], np.uint8), np.zeros(3, np.int32)
    confusions = np.zeros((3, 3), np.int64)
    count_spans(gold, predicted, np.array([0, 5, 6]), marks, kinds, sequences, types, labels, confusions)
    assert sequences.tolist() == [[1, 0, 5, 4, 2, 2, 1], [1, 1, 1, 1, 0, 0, 0]]
    assert types.tolist() == [[2, 2, 1]]
    assert labels.tolist() == [[3, 2, 2], [2, 2, 2], [1, 2, 1]]
    assert confusions.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_a_span_never_crosses_the_edge_of_a_sequence():
    inside = np.zeros(2, np.int32)
    sequences, counts = np.zeros((2, 7), np.int64), np.zeros((1, 3), np.int64)
    marks, kinds = np.array([INSIDE], np.uint8), np.zeros(1, np.int32)
    labels, confusions = counts.copy(), counts.copy()
    count_spans(inside, inside, np.array([0, 1, 2]), marks, kinds, sequences, counts, labels, confusions)
    assert counts.tolist() == [[2, 2, 2]]


def test_fade_forgets_by_one_factor_a_row():
    sums = np.zeros(2)
    fade(np.array([[4, 0], [0, 2], [1, 1]]), 0.5, sums)
    assert sums.tolist() == [2.0, 2.0]
