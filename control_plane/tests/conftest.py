"""What holds for every test: a state folder of its own, never the user's, and a Ctrl-C that can be sent."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """A shell ignores SIGINT in what it starts in the background, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("EEON_STATE", str(folder))
    return folder
