"""What holds for every test: a state folder of its own, never the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from eeon_control import topology
from eeon_control.fabric import sync
from fake_p4runtime import FakeFabric


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("EEON_STATE", str(folder))
    return folder


@pytest.fixture
def answers_within(monkeypatch) -> Callable[[float], None]:
    """Returns a setter of the deadline of a request, in seconds; a user's requests have 10."""

    def within(seconds: float) -> None:
        monkeypatch.setattr("finsy.p4client._DEFAULT_RPC_TIMEOUT", seconds)
        for module in ("session", "port_states"):
            monkeypatch.setattr(f"eeon_control.fabric.{module}.ANSWER_SECONDS", seconds)
        monkeypatch.setattr("eeon_control.fabric.session.LOAD_SECONDS", seconds)

    return within


@pytest.fixture
def fakes() -> Iterator[FakeFabric]:
    """Fake switches of leaf-spine-4, on the event loop that the commands use."""
    found = FakeFabric(topology.load("leaf-spine-4"))
    sync.run(found.__aenter__())
    yield found
    sync.run(found.__aexit__())
