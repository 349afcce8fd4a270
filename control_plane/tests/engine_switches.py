"""Engine switches of a topology, each with a P4Runtime server. Only tests advance their clocks."""

import contextlib
from collections.abc import Collection, Iterator, Mapping

import pytest
from eeon_control.config import FabricConfig
from eeon_control.fabric.read import read_entries
from eeon_control.fabric.sync import apply_sync, plan_sync, run
from eeon_control.targets import Target
from eeon_control.topology import Topology

TICK_PS = 1000
ONE_SWITCH = """
name: one-switch
defaults: {delay: 1us, overhead: 24B}
nodes: {leaf1: {kind: switch, role: leaf}, h1: {kind: host}}
links: [{endpoints: ["leaf1:1", "h1:1"], rate: 1Gbps}]
"""


@contextlib.contextmanager
def serving(fabric: Topology, **options) -> Iterator[tuple[dict, dict[str, str]]]:
    """Yields the switches and their servers' addresses, by name. `options`: further options of `Switch`."""
    engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
    p4runtime = pytest.importorskip("eeon_engine.p4runtime")
    with contextlib.ExitStack() as stack:
        switches, addresses = {}, {}
        for switch in fabric.switches.values():
            ports = [
                engine.Port(port.number, rate_bps=int(port.rate), overhead_bytes=int(port.overhead))
                for port in switch.ports
            ]
            running = engine.Switch(
                device_id=switch.device_id,
                tick_ps=TICK_PS,
                ports=ports,
                **{"gate_register": "gate_open_at", **options},
            )
            switches[switch.name] = running
            addresses[switch.name] = stack.enter_context(p4runtime.serve(running)).address
        yield switches, addresses


@contextlib.contextmanager
def serving_thrift_too() -> Iterator[Target]:
    """Yields one switch without ports, which serves P4Runtime and Thrift."""
    engine = pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")
    p4runtime, thrift = (pytest.importorskip(f"eeon_engine.{name}") for name in ("p4runtime", "thrift"))
    switch = engine.Switch(device_id=1, tick_ps=TICK_PS)
    with p4runtime.serve(switch) as server, thrift.serve(switch, "127.0.0.1:0") as other:
        yield Target(server.address, 1, None, other.address)


@contextlib.contextmanager
def holding(
    fabric: Topology, wanted: FabricConfig, afterwards: FabricConfig, tables: Collection[str]
) -> Iterator[tuple[dict, Mapping[str, str]]]:
    """Yields switches with a configuration, and their addresses; `afterwards` must empty `tables`."""
    with serving(fabric, priorities=8) as (switches, targets):
        apply_sync(fabric, wanted, targets, TICK_PS)
        assert not any(one.changes for one in plan_sync(fabric, wanted, targets, TICK_PS).switches.values())
        yield switches, targets
        apply_sync(fabric, afterwards, targets, TICK_PS)
        held = run(read_entries(fabric, targets))["leaf1"]
        assert [entry for entry in held if entry.table in tables and not entry.is_default] == []
