"""The demo: an embedded broker, a producer of generated data and the same daemon as `run`."""
