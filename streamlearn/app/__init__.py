"""Composition roots: from a configuration to wired objects."""
