"""Ctrl-C and SIGTERM during the start of a process."""

import signal

import pytest
from eeon_control.cli.signals import held_back, stopped_by_signals

SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


@pytest.mark.usefixtures("hears_hangup")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_comes_in_the_middle_of_a_start_stops_after_it(number: signal.Signals) -> None:
    handlers = [signal.getsignal(one) for one in SIGNALS]
    started = False
    with stopped_by_signals(), pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(number)
        started = True
    assert started and [signal.getsignal(one) for one in SIGNALS] == handlers


def test_a_signal_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals(), held_back():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
