"""Secrets: never shown, and read from a file if the configuration names one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlearn.errors import ConfigError

_FILE = "_file"
# Longer than any password, and short enough for any file that a wrong path leads to.
_MAX_BYTES = 64 << 10


def is_secret(key: str) -> bool:
    """Return whether the value of a key must never be shown.

    >>> is_secret("sasl_plain_password")
    True
    """
    return key.endswith("password")


def from_files(section: Mapping[str, Any], where: str, base: Path) -> dict[str, Any]:
    """Return a section in which each ``…password_file`` is replaced by the first line of that file.

    Parameters
    ----------
    where : name of the section, for error messages.
    base : directory that paths are relative to.

    Raises
    ------
    ConfigError : the file cannot be read or is empty, or the secret itself is set, too.
    """
    settings = dict(section)
    for key in section:
        name = str(key).removesuffix(_FILE)
        if name != key and is_secret(name):
            if name in section:
                raise ConfigError(f"{where}: set {name} or {key}, not both")
            path = settings.pop(key)
            settings[name] = _line(base / str(path), f"{where}.{key}")
    return settings


def _line(path: Path, where: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            secret = file.readline(_MAX_BYTES).rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise ConfigError(f"{where}: {path}: cannot be read: {reason}") from None
    if not secret:
        raise ConfigError(f"{where}: {path}: the first line is empty, wanted the password")
    return secret
