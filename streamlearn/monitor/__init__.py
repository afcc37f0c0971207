"""Scores, convergence and concept drift, while the model learns and on a test set."""
