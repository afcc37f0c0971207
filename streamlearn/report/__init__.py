"""A report of a checkpoint: one HTML file or one image."""
