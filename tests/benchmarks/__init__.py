"""Figures that the documentation quotes; each module is a command and prints what it measured."""
