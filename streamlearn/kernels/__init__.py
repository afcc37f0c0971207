"""Numba over numpy arrays and nothing else: the inner loops of features, decoding and learning."""
