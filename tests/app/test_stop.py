"""Signals, sent to processes of their own."""

import signal
import subprocess
import sys
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


def run(body: str, number: int, echo: float = 60.0) -> tuple[int, list[str]]:
    command = [sys.executable, "-c", _BODY.format(body=body, echo=echo)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
