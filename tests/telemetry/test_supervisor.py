import socket

import pytest

from streamlearn.events import StateChanged
from streamlearn.telemetry.supervisor import Supervisor
from tests.telemetry import examples


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def channel(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(tmp_path / "notify"))
        channel.setblocking(False)
        yield channel


@pytest.fixture
def environment(channel):
    return {"NOTIFY_SOCKET": channel.getsockname(), "WATCHDOG_USEC": "40000000"}


def received(channel):
    found = []
    while True:
        try:
            found.append(channel.recv(1000).decode())
        except BlockingIOError:
            return found


def test_started_alive_and_stopping_are_told(channel, environment):
    clock = Clock()
    supervisor = Supervisor(environment, clock)
    for event in (StateChanged("starting"), StateChanged("running"), examples.polled(connected=False)):
        supervisor(event)
    clock.now = 10.0
    for event in (examples.learned(), examples.polled(), StateChanged("stopping"), StateChanged("stopped")):
        supervisor(event)
    assert received(channel) == [
        "READY=1\nWATCHDOG_USEC=0\nSTATUS=compiling kernels, or waiting for a broker",
        "WATCHDOG_USEC=40000000\nSTATUS=learning",
        "WATCHDOG=1\nSTATUS=waiting for a broker",
        "WATCHDOG=1\nSTATUS=1,002 sequences learned",
        "STOPPING=1\nSTATUS=writing the last checkpoint",
    ]


def test_the_watchdog_is_fed_four_times_in_its_interval_and_not_more(channel, environment):
    clock = Clock()
    supervisor = Supervisor(environment, clock)
    for tenth in range(400):
        clock.now = tenth / 10
        supervisor(examples.polled())
    assert received(channel) == ["WATCHDOG=1"] * 4


def test_a_loop_that_hangs_feeds_nothing(channel, environment):
    clock = Clock()
    supervisor = Supervisor(environment, clock)
    supervisor(StateChanged("running"))
    received(channel)
    clock.now = 1000.0
    assert received(channel) == []


def test_without_a_watchdog_none_is_fed(channel, environment):
    supervisor = Supervisor({"NOTIFY_SOCKET": environment["NOTIFY_SOCKET"]})
    supervisor(examples.polled())
    assert received(channel) == []


def test_no_supervisor_and_one_that_is_gone_are_no_trouble(tmp_path):
    for environment in ({}, {"NOTIFY_SOCKET": str(tmp_path / "gone"), "WATCHDOG_USEC": "4"}):
        supervisor = Supervisor(environment)
        for event in examples.all_kinds():
            supervisor(event)
