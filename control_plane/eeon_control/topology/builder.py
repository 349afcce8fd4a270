"""Builds topologies: checks nodes and links, and computes addresses, device ids and port roles.

All problems are reported at once, each at its place in the file. Nothing here reads files.
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from eeon_control.constants import CPU_PORT, DATA_PORT_MAX, DROP_PORT
from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, KeyPath
from eeon_control.topology import addresses
from eeon_control.topology.addresses import Addressing
from eeon_control.topology.model import Endpoint, Host, Link, Port, PortRole, Switch, SwitchRole, Topology
from eeon_control.topology.schema import TopologyFile, endpoint
from eeon_control.units import Bytes, DataRate, Duration

_OVERHEAD_LIMIT = 0xFFFF  # the data plane's overhead_bytes parameter has 16 bits


@dataclass(frozen=True)
class NodePart:
    """A node as written: its name, whether it is a host, its role if given, and its place in the file."""

    name: str
    is_host: bool
    role: SwitchRole | None
    path: KeyPath


@dataclass(frozen=True)
class LinkPart(Link):
    """A link as written, with defaults filled in, and its place in the file."""

    path: KeyPath


_LinksOf = dict[str, list[tuple[int, LinkPart, Endpoint]]]
"""Node -> its links: own port number, link, the other end."""


@dataclass(frozen=True)
class _Fabric:
    """The parts of a fabric whose links have been checked."""

    document: Document
    nodes: dict[str, NodePart]
    links_of: _LinksOf
    roles: dict[str, SwitchRole]
    plan: Addressing


def build(
    document: Document, file: TopologyFile, source: str, nodes: list[NodePart], links: list[LinkPart]
) -> Topology:
    """Returns the Topology of a file and its parts. Raises InputError listing every broken rule."""
    by_name = {node.name: node for node in nodes}
    if problems := list(_check_links(document, by_name, links)):
        raise InputError(problems)
    links_of: _LinksOf = defaultdict(list)
    for link in links:
        for here, there in ((link.a, link.b), (link.b, link.a)):
            links_of[here.node].append((here.port, link, there))
    with_hosts = {there.node for node in nodes if node.is_host for _, _, there in links_of[node.name]}
    roles = {
        node.name: node.role or (SwitchRole.LEAF if node.name in with_hosts else SwitchRole.SPINE)
        for node in nodes
        if not node.is_host
    }
    fabric = _Fabric(document, by_name, links_of, roles, file.addressing)
    if problems := [*_check_nodes(fabric), *_check_connected(fabric)]:
        raise InputError(problems)
    switches = MappingProxyType(_switches(fabric))
    hosts = MappingProxyType(_hosts(fabric, switches))
    plain = tuple(Link(one.a, one.b, one.rate, one.delay, one.overhead) for one in links)
    return Topology(file.name, file.description, switches, hosts, plain, source, document.value)


def check_written(document: Document) -> list[Problem]:
    """Returns the problems of the ends of links, in a file that violates the schema elsewhere.

    Users then see all mistakes at once. The schema reports ends that cannot be parsed.
    """
    written, links = document.get(("nodes",)), document.get(("links",))
    if not isinstance(written, dict) or not isinstance(links, list):
        return []
    nodes = {
        name: NodePart(name, isinstance(node, dict) and node.get("kind") == "host", None, ("nodes", name))
        for name, node in written.items()
        if isinstance(name, str)
    }
    parts = []
    for index, link in enumerate(links):
        ends = link.get("endpoints") if isinstance(link, dict) else None
        found = []
        for end in ends if isinstance(ends, list) else []:
            with contextlib.suppress(ValueError):
                found.append(endpoint(end))
        if len(found) == 2:
            path: KeyPath = ("links", index)
            parts.append(LinkPart(found[0], found[1], DataRate(1), Duration(0), Bytes(0), path))
    return list(_check_links(document, nodes, parts))


def _check_links(document: Document, nodes: dict[str, NodePart], links: list[LinkPart]) -> Iterator[Problem]:
    used: dict[Endpoint, KeyPath] = {}
    for link in links:
        path = (*link.path, "endpoints")
        for side, end in enumerate((link.a, link.b)):
            if end.node not in nodes:
                yield document.problem((*path, side), f"unknown node {end.node!r}", end)
            elif end.port > DATA_PORT_MAX:
                others = f"{CPU_PORT} is the CPU port, {DROP_PORT} the drop port"
                yield document.problem(
                    (*path, side), f"port numbers are 0 to {DATA_PORT_MAX} ({others})", end
                )
            elif end in used:
                first = document.place((*used[end], "endpoints"))
                yield document.problem((*path, side), f"this port already has a link ({first})", end)
            used.setdefault(end, link.path)
        if link.a.node == link.b.node:
            yield document.problem(path, "a link must join two different nodes", f"{link.a}, {link.b}")
        elif all(end.node in nodes and nodes[end.node].is_host for end in (link.a, link.b)):
            yield document.problem(path, "a host's link must lead to a switch", f"{link.a}, {link.b}")
        if link.overhead > _OVERHEAD_LIMIT:
            yield document.problem((*link.path, "overhead"), f"must be at most {_OVERHEAD_LIMIT}B")


def _check_nodes(fabric: _Fabric) -> Iterator[Problem]:
    document, nodes, links_of = fabric.document, fabric.nodes, fabric.links_of
    roles, plan = fabric.roles, fabric.plan
    if not roles:
        yield document.problem(("nodes",), "a topology needs at least one switch")
    if len(roles) > addresses.SWITCH_LIMIT:
        yield document.problem(("nodes",), f"at most {addresses.SWITCH_LIMIT} switches", len(roles))
    leaves = [name for name, role in roles.items() if role is SwitchRole.LEAF]
    for name in leaves[plan.leaf_limit :]:
        yield document.problem(
            nodes[name].path, f"{plan.ipv4} has room for at most {plan.leaf_limit} leaves", name
        )
    for node in nodes.values():
        peers = [nodes[there.node] for _, _, there in links_of[node.name]]
        if node.is_host:
            if len(peers) != 1:
                yield document.problem(node.path, f"a host has exactly one link, not {len(peers)}", node.name)
            if node.role is not None:
                yield document.problem((*node.path, "role"), "only switches have a role; remove this key")
            continue
        hosts = sum(peer.is_host for peer in peers)
        if hosts and roles[node.name] is SwitchRole.SPINE:
            yield document.problem((*node.path, "role"), f"{node.name} has hosts, so its role must be leaf")
        if hosts > addresses.HOSTS_PER_LEAF_LIMIT:
            most = addresses.HOSTS_PER_LEAF_LIMIT
            yield document.problem(node.path, f"a leaf has at most {most} hosts; {node.name} has {hosts}")


def _check_connected(fabric: _Fabric) -> Iterator[Problem]:
    nodes, links_of = fabric.nodes, fabric.links_of
    start = next(iter(nodes))
    reached, frontier = {start}, [start]
    while frontier:
        for _, _, there in links_of[frontier.pop()]:
            if there.node not in reached:
                reached.add(there.node)
                frontier.append(there.node)
    for node in nodes.values():
        # A host without a link is reported as such, and not a second time here.
        if node.name in reached or (node.is_host and not links_of[node.name]):
            continue
        yield fabric.document.problem(
            node.path,
            f"no path leads from {start} to {node.name}; all nodes of a fabric must be connected",
            node.name,
        )


def _switches(fabric: _Fabric) -> dict[str, Switch]:
    plan = fabric.plan
    switches: dict[str, Switch] = {}
    leaf_number = 0
    for device_id, (name, role) in enumerate(fabric.roles.items(), start=1):
        ports = []
        for number, link, there in sorted(fabric.links_of[name], key=lambda item: item[0]):
            if fabric.nodes[there.node].is_host:
                port_role = PortRole.HOST_FACING
            else:
                port_role = PortRole.UPLINK if role is SwitchRole.LEAF else PortRole.SPINE
            ports.append(Port(name, number, port_role, there, link.rate, link.delay, link.overhead))
        common = (name, role, device_id, addresses.switch_mac(device_id), tuple(ports))
        if role is SwitchRole.LEAF:
            leaf_number += 1
            switches[name] = Switch(
                *common, leaf_number, plan.leaf_ipv4(leaf_number), plan.leaf_ipv6(leaf_number)
            )
        else:
            switches[name] = Switch(*common)
    return switches


def _hosts(fabric: _Fabric, switches: Mapping[str, Switch]) -> dict[str, Host]:
    plan = fabric.plan
    by_name: dict[str, Host] = {}
    for switch in switches.values():
        if switch.leaf_number is None:
            continue
        leaf = switch.leaf_number
        facing = [port for port in switch.ports if port.role is PortRole.HOST_FACING]
        for number, port in enumerate(facing, start=1):
            name = port.peer.node
            [(own_number, link, there)] = fabric.links_of[name]
            own_port = Port(name, own_number, PortRole.HOST, there, link.rate, link.delay, link.overhead)
            mac = addresses.host_mac(leaf, number)
            ipv4, ipv6 = plan.host_ipv4(leaf, number), plan.host_ipv6(leaf, number)
            by_name[name] = Host(name, mac, ipv4, ipv6, switch.name, switch.mac, own_port)
    return {name: by_name[name] for name in fabric.nodes if name in by_name}
