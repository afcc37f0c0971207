import signal
from collections.abc import Iterator

import pytest

from streamlearn.cli.interrupt import Interrupt


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
