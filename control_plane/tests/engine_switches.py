"""The engine's switches of a topology, each behind a P4Runtime server. Their clocks stand still until a test moves them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from eeon_control.topology import Topology

TICK_PS = 1000


@contextlib.contextmanager
def serving(fabric: Topology, **options) -> Iterator[tuple[dict, dict[str, str]]]:
    """Yields the switches and the addresses of their servers, by name. `options` are further ones of `Switch`."""
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
