"""The status of a daemon, drawn in a terminal."""
