"""Ctrl-C and SIGTERM during the start of a process."""

from __future__ import annotations

import signal

import pytest
from eeon_control.cli.signals import held_back, stopped_by_sigterm


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_in_the_middle_of_a_start_stops_after_it(number: signal.Signals) -> None:
    started = False
    with stopped_by_sigterm(), pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(number)
        started = True
    assert started


def test_handlers_are_what_they_were_before() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with stopped_by_sigterm(), held_back():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
