"""A supervisor in this process, for engine switches in it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection

from eeon_control import config, state, topology
from eeon_control.controller import Options, State, Supervisor
from eeon_control.targets import Target, Targets
from eeon_control.units import Duration
from engine_switches import LocalFabric, LocalSwitch
from revisions import commit

TOPOLOGY = topology.load("leaf-spine-4")
SECONDS = 60.0


async def until(what: Callable[[], bool]) -> None:
    """Waits until a condition is true; the limit only ends a failing test."""
    async with asyncio.timeout(SECONDS):
        while not what():
            await asyncio.sleep(0.01)


def committed(folder, targets: dict[str, Target], wanted: config.FabricConfig) -> state.StateStore:
    """Returns a state folder with one revision that is not on any switch yet."""
    store = state.StateStore.open(folder)
    commit(store, state.Intent.of(state.Intended(TOPOLOGY, wanted, Targets(Duration(1000), targets))))
    return store


@contextlib.asynccontextmanager
async def in_sync(
    store: state.StateStore, switches: Collection[str] = tuple(TOPOLOGY.switches), **options
) -> AsyncIterator[Supervisor]:
    """Yields a supervisor of the store's fabric, when these switches are in sync."""
    supervisor = Supervisor(store, Options(**options))
    task = asyncio.create_task(supervisor.run())
    try:
        await until(lambda: {supervisor.states().get(name) for name in switches} == {State.IN_SYNC})
        yield supervisor
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def supervised(
    folder, make: type[LocalSwitch] = LocalSwitch, **options
) -> AsyncIterator[tuple[LocalFabric, Supervisor]]:
    """Yields four switches and their supervisor, when all are in sync."""
    with LocalFabric(TOPOLOGY, make) as fabric:
        targets = {name: Target.parse(address) for name, address in fabric.targets.items()}
        store = committed(folder / "state", targets, config.load("red_ack_syn"))
        async with in_sync(store, **options) as supervisor:
            yield fabric, supervisor
