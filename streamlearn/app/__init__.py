"""Composition roots: a configuration in, wired objects out."""
