"""The round-trip time through an otherwise idle fabric. Pure."""

from collections import deque
from collections.abc import Iterable

from eeon_control.topology.model import Port, PortRole, Topology
from eeon_control.units import PS_PER_S, Duration

# Ethernet header and 1500 bytes one way, the shortest frame back, both without FCS.
_DATA_BYTES, _ACK_BYTES = 1514, 60


def base_rtt(topology: Topology) -> Duration | None:
    """Returns the round-trip time of a full frame and its ACK between two distant hosts; None with fewer than
    two hosts.

    Counts propagation and transmit times only: no queues, sleeping links, or delays in hosts and switches.
    The hosts belong to two leaves found by walking to the farthest leaf twice. In trees and Clos fabrics,
    these are at the ends of the longest shortest path; in others, their path may be shorter.
    """
    nics: dict[str, list[Port]] = {}
    for host in topology.hosts.values():
        if len(nics.setdefault(host.leaf, [])) < 2:
            nics[host.leaf].append(host.port)
    if not nics:
        return None
    one, _ = _farthest(topology, next(iter(nics)), nics)
    other, way = _farthest(topology, one, nics)
    ends = [nics[one][0], nics[other][-1]]
    if ends[0] is ends[1]:
        return None
    return Duration(sum(_there_and_back_ps(port) for port in (*ends, *way)))


def _farthest(topology: Topology, start: str, among: Iterable[str]) -> tuple[str, list[Port]]:
    """Returns the leaf of `among` with the most hops from `start`, the first if several, and the way."""
    came_by: dict[str, Port | None] = {start: None}
    hops = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for port in topology.switches[here].ports:
            there = port.peer.node
            if port.role is not PortRole.HOST_FACING and there not in hops:
                hops[there], came_by[there] = hops[here] + 1, port
                queue.append(there)
    end = max(among, key=lambda leaf: hops.get(leaf, -1))
    way: list[Port] = []
    last = came_by[end]
    while last is not None:
        way.append(last)
        last = came_by[last.node]
    return end, way


def _there_and_back_ps(port: Port) -> int:
    """Returns the time of a frame and its ACK over the port's link: two delays and both transmit times."""
    wire_bits = 8 * (_DATA_BYTES + _ACK_BYTES + 2 * int(port.overhead))
    return 2 * int(port.delay) + wire_bits * PS_PER_S // int(port.rate)
