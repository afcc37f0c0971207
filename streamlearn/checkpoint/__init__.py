"""Checkpoints: weights, optimizer state and positions in one durable file, and stores that keep several."""
