"""Detection of buffer deadlocks: lossless classes on cyclic routes (docs/models/pfc.md). Pure.

A packet that waits in a switch occupies the buffer of its ingress link until there is room at the other end
of its egress link. If such waits can form a cycle, all of its links may stop forever.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from eeon_control.entries import Entry, Lpm
from eeon_control.topology import Topology

Hop = tuple[str, str]
"""A direction of a link: sending and receiving switch."""


def waiting_circle(topology: Topology, entries: Mapping[str, Iterable[Entry]]) -> list[Hop] | None:
    """Returns a cycle of links, each of which may wait for the next; None if the paths from the leaves have
    none."""
    sources = [leaf.name for leaf in topology.leaves]
    waits: dict[Hop, set[Hop]] = {}
    for by_switch in _next_hops(topology, entries).values():
        reached, following = set(sources), list(sources)
        while following:
            switch = following.pop()
            for one in by_switch.get(switch, ()):
                later = {(one, further) for further in by_switch.get(one, ())}
                waits.setdefault((switch, one), set()).update(later)
                if one not in reached:
                    reached.add(one)
                    following.append(one)
    return _circle(waits)


def _next_hops(
    topology: Topology, entries: Mapping[str, Iterable[Entry]]
) -> dict[tuple[str, int, int], dict[str, set[str]]]:
    """Returns destination -> switch -> its next-hop switches."""
    found: dict[tuple[str, int, int], dict[str, set[str]]] = {}
    for name, held in entries.items():
        peers = {port.number: port.peer.node for port in topology.switches[name].ports}
        for entry in held:
            match = entry.match[0] if entry.match else None
            if not isinstance(match, Lpm):
                continue
            ports = {value for action in entry.actions for key, value in action.params if key == "port"}
            after = {peers[port] for port in ports if peers.get(port) in topology.switches}
            destination = (entry.table, match.value, match.prefix_length)
            found.setdefault(destination, {}).setdefault(name, set()).update(after)
    return found


def _circle(waits: Mapping[Hop, Iterable[Hop]]) -> list[Hop] | None:
    """Returns one cycle of a directed graph, deterministically; None without any."""
    graph = TopologicalSorter[Hop](dict.fromkeys(sorted(waits), ()))
    for hop in sorted(waits):
        for later in sorted(waits[hop]):
            graph.add(later, hop)
    try:
        graph.prepare()
    except CycleError as error:
        cycle: list[Hop] = error.args[1]
        return cycle[:-1]  # the first hop is also the last one
    return None
