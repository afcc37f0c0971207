"""From the ids of values to the rows of features."""
