"""Ctrl-C and SIGTERM during the start of a process."""

import signal

import pytest
from eeon_control.cli.signals import held_back, stopped_by_signals


@pytest.mark.usefixtures("hears_hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_in_the_middle_of_a_start_stops_after_it(number: signal.Signals) -> None:
    started = False
    with stopped_by_signals(), pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(number)
        started = True
    assert started


def test_a_signal_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals(), held_back():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_what_they_were_before() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with stopped_by_signals(), held_back():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
