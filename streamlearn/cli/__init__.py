"""The command line: one command per module, no logic; heavy imports are deferred until a command runs."""
