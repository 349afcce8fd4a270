"""Common fixtures: each test has its own state folder, never the user's; a test may be a coroutine."""

import asyncio
import inspect
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from eeon_control import topology
from eeon_control.fabric import sync

_LIMIT_SECONDS = 300.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem) -> bool | None:
    """Runs a test that is a coroutine, on the only event loop of the process."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    names = inspect.signature(pyfuncitem.function).parameters
    work = pyfuncitem.function(**{name: pyfuncitem.funcargs[name] for name in names})
    sync.run(asyncio.wait_for(work, _LIMIT_SECONDS))
    return True


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Skips syncing: no test cuts the power. `DyingDisk` in test_state_kills.py simulates what is lost then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("EEON_STATE", str(folder))
    return folder


@pytest.fixture
def hears_hangup() -> Iterator[None]:
    """Lets this process and its children hear SIGHUP, which `nohup make test` ignores."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> Path:
    """Returns a folder with keys: `ca`, and those it has signed; `stranger_ca`, which has signed `stranger`."""
    certificates = pytest.importorskip(
        "certificates", reason="cryptography is not installed; no keys can be made"
    )
    folder = tmp_path_factory.mktemp("keys")
    authority = certificates.identity(folder, "ca")
    for name in ("controller", "other", "switch"):
        certificates.identity(folder, name, authority)
    certificates.identity(folder, "named", authority, dns="leaf1.example.net")
    certificates.identity(folder, "expired", authority, end=datetime(2020, 2, 1, tzinfo=UTC))
    certificates.identity(folder, "stranger", certificates.identity(folder, "stranger_ca"))
    return folder


@pytest.fixture
def answers_within(monkeypatch) -> Callable[[float], None]:
    """Returns a function that sets the deadline of requests, in seconds; the default is 10."""

    def within(seconds: float) -> None:
        monkeypatch.setattr("finsy.p4client._DEFAULT_RPC_TIMEOUT", seconds)
        for module in ("session", "port_states"):
            monkeypatch.setattr(f"eeon_control.fabric.{module}.ANSWER_SECONDS", seconds)
        monkeypatch.setattr("eeon_control.fabric.session.LOAD_SECONDS", seconds)

    return within


@pytest.fixture(scope="session")
def fabric4() -> topology.Topology:
    return topology.load("leaf-spine-4")


@pytest.fixture
def switches4(fabric4, answers_within):
    """Yields engine switches of leaf-spine-4 without a program, in this process, which may be busy."""
    switches = pytest.importorskip("engine_switches")
    answers_within(_LIMIT_SECONDS)
    with switches.LocalFabric(fabric4) as found:
        yield found


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Yields the switches of `fault_fabric`, in processes that tests kill, stop and make refuse."""
    faults = pytest.importorskip("fault_fabric")
    with pytest.importorskip("switch_processes").running("engine", faults.TOPOLOGY) as switches:
        yield faults.FaultyFabric(switches, tmp_path_factory.mktemp("images"))
