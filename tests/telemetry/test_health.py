import pytest

from streamlearn.events import StateChanged
from streamlearn.telemetry.health import Health
from tests.telemetry import examples


@pytest.fixture
def health(clock):
    return Health(stall_seconds=60, clock=clock)


def test_a_slow_start_is_alive_and_not_ready(health, clock):
    clock.now += 600
    assert health.alive() == (True, "starting")
    assert health.ready() == (False, "starting")


def test_a_loop_that_ticks_is_alive_with_or_without_a_broker(health, clock):
    health(StateChanged("running"))
    for _ in range(100):
        clock.now += 59
        health(examples.polled(connected=False))
    assert health.alive().ok
    assert health.ready() == (False, "no broker answers")
    health(examples.polled())
    assert health.ready() == (True, "running")


def test_a_long_turn_may_say_that_it_goes_on(health, clock):
    health(StateChanged("running"))
    clock.now += 59
    health.tick()
    clock.now += 59
    assert health.alive().ok


def test_a_loop_that_hangs_is_not_alive(health, clock):
    health(StateChanged("running"))
    clock.now += 61
    assert health.alive() == (False, "stalled: the loop last ticked 61 s ago, limit 60 s")


def test_writing_the_last_checkpoint_may_take_long(health, clock):
    health(StateChanged("running"))
    health(examples.polled())
    health(StateChanged("stopping"))
    clock.now += 600
    assert health.alive().ok
    assert not health.ready().ok


@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_an_ended_loop_is_not_alive(health, state):
    health(StateChanged(state))
    assert health.alive() == (False, state)
