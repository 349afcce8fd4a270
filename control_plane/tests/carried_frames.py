"""Engine switches behind P4Runtime servers, and frames that are carried from one to the next by hand."""

import struct

from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from eeon_control.routing import Flow
from engine_switches import serving

FLOW_GAP_PS = 10**9


class Running:
    """The engine's switches of a topology, and frames that are carried from one to the next by hand."""

    def __init__(self, topo, stack) -> None:
        self.topology = topo
        self.now_ps = 0
        self.switches, self.targets = stack.enter_context(serving(topo))

    def tables(self):
        observed = run(observe(self.topology, self.targets, Wanted(routes=True)))
        assert not observed.failures
        return {name: one.routes for name, one in observed.switches.items()}

    def ports_taken(self, source, frame: bytes) -> list[str]:
        """Returns the egress ports of a host's frame, until it leaves the fabric or is dropped."""
        self.now_ps += FLOW_GAP_PS
        at, taken = source.port.peer, []
        while at.node in self.switches:
            switch = self.switches[at.node]
            switch.advance_to(self.now_ps - 1)
            switch.inject(at.port, frame, self.now_ps)
            sent = switch.advance_to(self.now_ps + FLOW_GAP_PS // 2)
            if not sent:
                return taken  # dropped
            [(_, port, frame)] = sent
            taken.append(f"{at.node}:{port}")
            at = self.topology.port(taken[-1]).peer
        return taken


def checksum(data: bytes) -> bytes:
    """Returns the checksum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF).to_bytes(2, "big")


def frame_of(source, destination, flow: Flow, version: int, payload: int = 0) -> bytes:
    """Returns a frame: Ethernet, IP, the ports (of UDP or TCP), zeros, `payload` bytes; no L4 checksum."""
    ports = struct.pack("!HH", flow.source_port, flow.destination_port)
    body = {
        6: ports + bytes(8) + b"\x50\x10" + bytes(6),
        17: ports + b"\0\x1a" + bytes(20),
    }.get(flow.protocol, bytes(26)) + bytes(payload)
    macs = bytes.fromhex((source.gateway_mac + source.mac).replace(":", ""))
    if version == 6:
        head = b"\x60" + bytes(3) + struct.pack("!HBB", len(body), flow.protocol, 64)
        return macs + b"\x86\xdd" + head + source.ipv6.packed + destination.ipv6.packed + body
    head = struct.pack("!BBHHHBB", 0x45, 2, 20 + len(body), 0, 0x4000, 64, flow.protocol)
    ends = source.ipv4.packed + destination.ipv4.packed
    return macs + b"\x08\x00" + head + checksum(head + b"\0\0" + ends) + ends + body
