"""The parts of the accuracy study."""
