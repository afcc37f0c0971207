"""The daemon: records in, weights and checkpoints out."""
