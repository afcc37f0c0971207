"""The learners' passes over a batch: predict, compare, update."""
