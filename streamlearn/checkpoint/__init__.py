"""Weights, optimiser state and positions as one durable file, with generations."""
