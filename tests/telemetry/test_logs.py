import io
import json
import logging

import pytest

from streamlearn.telemetry.logs import configure, emit

pytestmark = pytest.mark.usefixtures("untouched_logging")
logger = logging.getLogger("streamlearn.test")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def logged(output, log, stream=None):
    stream = stream or io.StringIO()
    configure(output, stream=stream, about={})
    log()
    return stream.getvalue()


def test_json_is_one_object_a_line():
    def log():
        emit(logger, logging.INFO, "written", seq=3, ratio=float("nan"), seconds=0.25, note="a\nb", what=None)

    line = logged("json", log)
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    entry = json.loads(line, parse_constant=pytest.fail)
    assert entry.pop("ts").endswith("Z")
    assert entry == {
        "level": "info",
        "event": "written",
        "seq": 3,
        "ratio": None,
        "seconds": 0.25,
        "note": "a\nb",
        "what": None,
    }


def test_text_is_one_readable_line_whatever_the_values_hold():
    def log():
        emit(
            logger,
            logging.WARNING,
            "odd",
            plain="a/b",
            seconds=0.1234567,
            text='say "hi"',
            ansi="\x1b[2J\n\u2028",
        )

    line = logged("text", log)
    assert line.split(" ", 1)[1] == (
        'WARNING odd plain=a/b seconds=0.123457 text="say \\"hi\\"" ansi="\\u001b[2J\\n\\u2028"\n'
    )


def test_only_a_terminal_gets_colours(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)

    def log():
        emit(logger, logging.ERROR, "failed")

    assert "\x1b[31m" in logged("text", log, Terminal())
    assert "\x1b" not in logged("json", log, Terminal())
    assert "\x1b" not in logged("text", log)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in logged("text", log, Terminal())


def test_lines_of_libraries_have_the_same_shape():
    entry = json.loads(logged("json", lambda: logging.getLogger("other").warning("%d of %d", 1, 2)))
    assert (entry["event"], entry["logger"], entry["message"]) == ("log", "other", "1 of 2")


def test_an_exception_stays_on_its_line():
    def log():
        try:
            int("no")
        except ValueError:
            logger.exception("broken")

    line = logged("text", log)
    assert line.count("\n") == 1
    assert "ValueError: invalid literal" in line


@pytest.mark.parametrize(
    "text",
    [
        "{'sasl_plain_password': 'hunter2', 'client_id': 'x'}",
        'ssl_password="hunter2"',
        "password: hunter2, user: x",
        "client_secret=hunter2",
    ],
)
def test_secrets_are_never_logged(text):
    for output in ("text", "json"):
        assert "hunter2" not in logged(output, lambda: logging.getLogger("other").warning("config %s", text))
        assert "hunter2" not in logged(output, lambda: emit(logger, logging.INFO, "config", value=text))


def test_the_kafka_client_is_quiet_unless_debugging():
    assert logged("text", lambda: logging.getLogger("kafka.conn").warning("retrying")) == ""
    stream = io.StringIO()
    configure("text", "debug", stream)
    logging.getLogger("kafka").setLevel(logging.NOTSET)
    logging.getLogger("kafka.conn").warning("retrying")
    assert "retrying" in stream.getvalue()
