"""The command line: one command a module, no logic; heavy imports wait until a command runs."""
