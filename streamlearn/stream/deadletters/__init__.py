"""Records that could not be learned from: kept in a topic or a file until they are fixed and replayed."""
