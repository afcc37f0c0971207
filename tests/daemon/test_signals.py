"""Signals, sent to processes of their own."""

import signal
import subprocess
import sys

_BODY = """
import os, sys, time
from streamlearn.daemon.signals import stop_on_signals
with stop_on_signals(lambda: print("left", flush=True)) as stop:
    {body}
    print("asked" if stop() else "over", flush=True)
"""


def run(body: str, number: int) -> tuple[int, list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _BODY.format(body=body)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    rest = process.stdout.read().splitlines()
    return process.wait(20), rest


READY = "print('ready', flush=True)"


def test_the_first_signal_only_asks() -> None:
    body = f"{READY}\n    while not stop(): time.sleep(0.01)"
    assert run(body, signal.SIGTERM) == (0, ["asked"])


def test_the_second_signal_ends_it_at_once() -> None:
    # Not an echo of the first, as timeout(1) sends it to the whole group.
    later = f"{READY}\n    while not stop(): time.sleep(0.01)\n    time.sleep(0.7); os.kill(os.getpid(), 15)"
    assert run(later, signal.SIGTERM) == (143, ["left"])


def test_where_nothing_is_at_stake_the_first_signal_ends_it_cleanly() -> None:
    body = f"with stop.at_once():\n        {READY}\n        time.sleep(60)"
    assert run(body, signal.SIGTERM) == (0, ["left"])


def test_afterwards_a_signal_asks_again() -> None:
    body = f"with stop.at_once(): pass\n    {READY}\n    while not stop(): time.sleep(0.01)"
    assert run(body, signal.SIGINT) == (0, ["asked"])
