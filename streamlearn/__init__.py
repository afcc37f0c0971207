"""Learns structured models in one pass over labelled sequences in Kafka."""

__version__ = "0.1.0"
