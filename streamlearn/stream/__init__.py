"""Streams of labelled sequences: sources of records, and decoding their bytes into examples."""
