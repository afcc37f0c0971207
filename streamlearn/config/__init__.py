"""The configuration: its schema, loading it, and which part of it the weights depend on."""
