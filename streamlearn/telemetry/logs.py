"""Logs on standard error: one event per line, as text for people or as JSON for log collectors."""

import json
import logging
import math
import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

from streamlearn.choices import LogFormat, LogLevel

# Secrets that clients may print with their settings: a key and its value, as in a dict or as key=value.
_SECRET = re.compile(
    r"(password|secret|api_key|access_token)(['\"]?\s*[:=]\s*)(b?'[^']*'|b?\"[^\"]*\"|[^\s,;}]+)", re.I
)
# Loggers that print whole requests, including passwords and tokens.
_REQUEST_LOGGERS = ("kafka.net.connection", "kafka.protocol.parser")
_COLOURS = {"WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[31m"}
_RESET = "\x1b[0m"
# What the process is, in every JSON line.
_about: dict[str, str] = {}


def configure(
    output: LogFormat = "text",
    level: LogLevel = "info",
    stream: TextIO | None = None,
    about: Mapping[str, str] | None = None,
) -> None:
    """Send all logs of the process, including those of libraries, to `stream` (standard error).

    Colours are used only for text on a terminal, and not if ``NO_COLOR`` is set.

    Parameters
    ----------
    about : fields of every JSON line, which tell the process from others; by default as before.
    """
    if about is not None:
        _about.clear()
        _about.update(about)
    stream = stream if stream is not None else sys.stderr
    colour = stream.isatty() and not os.environ.get("NO_COLOR")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter(_about) if output == "json" else TextFormatter(colour=colour))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    if level != "debug":
        # The client logs every connection and retry; `event_log` reports once what matters.
        logging.getLogger("kafka").setLevel(logging.CRITICAL)
    for name in _REQUEST_LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else logging.NOTSET)


def emit(logger: logging.Logger, level: int, event: str, **fields: object) -> None:
    """Log an event; `event` is a fixed word, all that varies goes into fields."""
    logger.log(level, event, extra={"fields": fields})


class JsonFormatter(logging.Formatter):
    """``{"ts": …, "level": …, "event": …, …}``; lines of other libraries have the event ``log``.

    Parameters
    ----------
    about : fields of every line.

    >>> record = logging.makeLogRecord({"msg": "stopped", "levelname": "INFO", "created": 0})
    >>> record.fields = {"n": 1}
    >>> JsonFormatter({"model": "np"}).format(record)
    '{"ts": "1970-01-01T00:00:00.000Z", "level": "info", "event": "stopped", "model": "np", "n": 1}'
    """

    def __init__(self, about: Mapping[str, str]) -> None:
        super().__init__()
        self._about = dict(about)

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        event, fields = _event(record)
        head = {"ts": _time(record), "level": record.levelname.lower(), "event": event, **self._about}
        return json.dumps(head | {name: _plain(value) for name, value in fields.items()}, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """``TIME LEVEL event name=value …``, values quoted where they hold more than plain characters.

    >>> record = logging.makeLogRecord({"msg": "stopped", "levelname": "INFO", "created": 0})
    >>> record.fields = {"n": 1}
    >>> TextFormatter().format(record)
    '1970-01-01T00:00:00.000Z INFO    stopped n=1'
    """

    def __init__(self, *, colour: bool = False) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        event, fields = _event(record)
        words = [f"{name}={_word(value)}" for name, value in fields.items()]
        line = " ".join([_time(record), f"{record.levelname:7}", event, *words])
        colour = _COLOURS.get(record.levelname) if self._colour else None
        return f"{colour}{line}{_RESET}" if colour else line


def _event(record: logging.LogRecord) -> tuple[str, Mapping[str, object]]:
    fields = getattr(record, "fields", None)
    if fields is not None:
        event, result = record.getMessage(), dict(fields)
    else:
        event, result = "log", {"logger": record.name, "message": record.getMessage()}
    if record.exc_info and record.exc_info[1] is not None:
        result["error"] = logging.Formatter().formatException(record.exc_info)
    return event, {name: _redacted(value) for name, value in result.items()}


def _redacted(value: object) -> object:
    return _SECRET.sub(r"\1\2***", value) if isinstance(value, str) else value


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> Any:
    """Return a value that JSON can represent; NaN becomes None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)


def _word(value: object) -> str:
    if isinstance(value, float):
        return format(value, ".6g")
    text = str(value)
    plain = text.isprintable() and text and not set(text) & set(' "=\\')
    # Escaped, so that no token of a stream can break the line or control the terminal.
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())
