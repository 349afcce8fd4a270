"""The pytest fixture `eeon_switch`: a switch that runs the test's P4 program.

def test_a_route_sends_a_packet_to_its_port(eeon_switch):
    switch = eeon_switch("build/router.json", "build/router.p4info.txtpb")
    switch.insert("ipv4_lpm", {"hdr.ipv4.dst": "10.0.1.0/24"}, "forward", port=2)
    (departure,) = switch.send(1, Ether() / IP(dst="10.0.1.7"))
    assert departure.port == 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .packet_test import PacketSwitch


@pytest.fixture
def eeon_switch() -> type[PacketSwitch]:
    """Returns `PacketSwitch`, which makes new switches in virtual time: `eeon_switch(program, p4info)`."""
    # Imported on first use, so that a run without such tests does not load the engine.
    from .packet_test import PacketSwitch

    return PacketSwitch
