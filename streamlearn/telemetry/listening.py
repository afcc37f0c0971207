"""Where the HTTP server listens, as an address and as a URL."""

# What "all interfaces" is called by those on the same machine.
_REACHABLE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


def address(host: str, port: int) -> str:
    """Return host and port as one string.

    >>> address("::1", 9464)
    '[::1]:9464'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def local_url(host: str, port: int, *, tls: bool) -> str:
    """Return the URL at which a server that listens on `host` answers those on the same machine.

    >>> local_url("0.0.0.0", 9464, tls=True)
    'https://127.0.0.1:9464'
    """
    return f"{'https' if tls else 'http'}://{address(_REACHABLE.get(host, host), port)}"
