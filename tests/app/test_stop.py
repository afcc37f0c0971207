"""Signals, sent to processes of their own."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from streamlearn.app.stop import Interrupt

_BODY = """
import os, sys, time
from streamlearn.app import stop
from streamlearn.app.stop import stop_on_signals
stop._ECHO_SECONDS = {echo}
with stop_on_signals(lambda: print("left", flush=True)) as stop:
    {body}
    print("asked" if stop() else "over", flush=True)
"""


def run(body: str, number: int, echo: float = 60.0, *wrapper: str) -> tuple[int, list[str]]:
    """Run a body in a process without a terminal, and send it a signal once it is ready."""
    command = [*wrapper, sys.executable, "-c", _BODY.format(body=body, echo=echo)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    rest = process.stdout.read().splitlines()
    return process.wait(20), rest


READY = "print('ready', flush=True)"
ASKED = f"{READY}\n    while not stop(): time.sleep(0.01)\n    pass"


def test_the_first_signal_only_asks() -> None:
    assert run(ASKED, signal.SIGTERM) == (0, ["asked"])


def test_the_second_signal_ends_it_at_once() -> None:
    assert run(f"{ASKED}; os.kill(os.getpid(), 15)", signal.SIGTERM, echo=0.0) == (143, ["left"])


def test_an_echo_of_the_first_signal_as_timeout_sends_it_to_the_group_is_no_second() -> None:
    assert run(f"{ASKED}; os.kill(os.getpid(), 15)", signal.SIGTERM) == (0, ["asked"])


def test_where_nothing_is_at_stake_the_first_signal_ends_it_cleanly() -> None:
    body = f"with stop.at_once():\n        {READY}\n        time.sleep(60)"
    assert run(body, signal.SIGTERM) == (0, ["left"])


def test_afterwards_a_signal_asks_again() -> None:
    assert run(f"with stop.at_once(): pass\n    {ASKED}", signal.SIGINT) == (0, ["asked"])


def test_a_hangup_without_a_terminal_asks_once_for_a_reload() -> None:
    waiting = "while not stop.reload_requested(): time.sleep(0.01)"
    body = f"{READY}\n    {waiting}\n    assert not stop.reload_requested()"
    assert run(body, signal.SIGHUP) == (0, ["over"])


def test_a_hangup_while_nothing_is_at_stake_ends_nothing() -> None:
    body = (
        f"with stop.at_once():\n        {READY}\n        while not stop.reload_requested(): time.sleep(0.01)"
    )
    assert run(body, signal.SIGHUP) == (0, ["over"])


def test_a_closed_terminal_asks_to_stop() -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _BODY.format(body=ASKED, echo=60.0)],
        stdin=slave,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # The new session takes standard input as its terminal, as that of a login does.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.close(slave)
    os.close(master)
    assert (process.stdout.read(), process.wait(20)) == ("asked\n", 0)


def test_under_nohup_a_hangup_changes_nothing() -> None:
    hangup = "os.kill(os.getpid(), signal.SIGHUP); assert not stop() and not stop.reload_requested()"
    body = f"import signal; {hangup}\n    {ASKED}"
    assert run(body, signal.SIGTERM, 60.0, "nohup") == (0, ["asked"])


def test_a_signal_ends_between_two_items() -> None:
    with Interrupt() as interrupt:
        seen = []
        for item in interrupt.until(range(10)):
            if item == 3:
                signal.raise_signal(signal.SIGINT)
            seen.append(item)
        interrupt.sleep(60)
    assert seen == [0, 1, 2, 3]
    assert interrupt.exit_code == 130


def test_a_signal_ends_a_read_that_never_returns() -> None:
    def silent() -> Iterator[int]:
        yield 1
        signal.raise_signal(signal.SIGTERM)
        yield 2

    with Interrupt() as interrupt:
        assert list(interrupt.until(silent())) == [1]
    assert interrupt.exit_code == 143


def test_a_second_signal_ends_at_once() -> None:
    with Interrupt():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_signal_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
