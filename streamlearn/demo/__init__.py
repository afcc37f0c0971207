"""The demo: an embedded broker, a producer and the real daemon."""
