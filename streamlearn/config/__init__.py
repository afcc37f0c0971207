"""The configuration: its shape, where its values come from, what of it weights depend on."""
