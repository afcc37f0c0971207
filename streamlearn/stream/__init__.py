"""Where labelled sequences come from, and how bytes become examples."""
