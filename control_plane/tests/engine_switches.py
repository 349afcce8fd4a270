"""Engine switches of a topology, each with a P4Runtime server. Only tests advance their clocks."""

import contextlib
from collections.abc import Iterator

import pytest
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
