"""The consoles that commands print to: lines are wrapped only where a person reads them in a terminal."""

from rich.console import Console

# Wider than any line: what is piped or redirected is searched for, and parsed.
_UNLIMITED = 1_000_000


def console(stderr: bool = False) -> Console:
    """Return a console on standard output, or on standard error."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal:
        found.width = _UNLIMITED
    return found
