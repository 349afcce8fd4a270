"""Expands the compact forms of a topology file, `leaf_spine` and `clos`, to nodes and links.

Leaves are leaf1, leaf2, ..., aggregation switches agg1, ..., spines spine1, ..., hosts h1, ..., each numbered
across the whole fabric. Ports count from 1, as on front panels: a leaf's hosts first, then its uplinks; an
aggregation switch's leaves first, then its links to spines.
"""

from dataclasses import dataclass, field

from eeon_control.constants import DATA_PORT_MAX
from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, KeyPath
from eeon_control.topology.addresses import HOSTS_PER_LEAF_LIMIT, AddressPlan
from eeon_control.topology.builder import LinkPart, NodePart
from eeon_control.topology.model import Endpoint, SwitchRole
from eeon_control.topology.schema import DEFAULT_OVERHEAD, ClosFile, LeafSpineFile, LinkValues

_LINKS_LIMIT = 200_000  # a few bytes of text must not exhaust memory


@dataclass
class _Parts:
    """The nodes and links built so far; `path` is the form's key, to which all of them refer."""

    document: Document
    defaults: LinkValues
    path: KeyPath
    nodes: list[NodePart] = field(default_factory=list)
    links: list[LinkPart] = field(default_factory=list)
    hosts: int = 0

    def switches(self, prefix: str, count: int, role: SwitchRole) -> None:
        self.nodes += [
            NodePart(f"{prefix}{number}", False, role, self.path) for number in range(1, count + 1)
        ]

    def link(self, a: Endpoint, b: Endpoint, values: LinkValues, key: str) -> None:
        self.links.append(link_part(self.document, a, b, [values, self.defaults], (*self.path, key)))

    def add_hosts(self, leaf: str, count: int, values: LinkValues) -> None:
        for port in range(1, count + 1):
            self.hosts += 1
            self.nodes.append(NodePart(f"h{self.hosts}", True, None, self.path))
            self.link(Endpoint(leaf, port), Endpoint(f"h{self.hosts}", 0), values, "host_link")


def leaf_spine(
    document: Document, form: LeafSpineFile, defaults: LinkValues, plan: AddressPlan
) -> tuple[list[NodePart], list[LinkPart]]:
    """Returns the nodes and links of two tiers. Raises InputError."""
    limits = _Limits(document, ("leaf_spine",))
    limits.check("leaves", form.leaves, plan.leaf_limit, "prefixes for leaves")
    limits.check("leaves", form.leaves, DATA_PORT_MAX, "ports of a spine")
    limits.check("hosts_per_leaf", form.hosts_per_leaf, HOSTS_PER_LEAF_LIMIT, "the last byte of 10.0.L.K")
    limits.check("spines", form.spines, DATA_PORT_MAX - form.hosts_per_leaf, "ports of a leaf")
    limits.check_links(form.leaves * (form.hosts_per_leaf + form.spines))
    if form.spines == 0 and form.leaves > 1:
        limits.add("spines", "two or more leaves need at least one spine")
    limits.refuse()
    parts = _Parts(document, defaults, ("leaf_spine",))
    parts.switches("leaf", form.leaves, SwitchRole.LEAF)
    parts.switches("spine", form.spines, SwitchRole.SPINE)
    for leaf in range(1, form.leaves + 1):
        name = f"leaf{leaf}"
        parts.add_hosts(name, form.hosts_per_leaf, form.host_link)
        for spine in range(1, form.spines + 1):
            near = Endpoint(name, form.hosts_per_leaf + spine)
            parts.link(near, Endpoint(f"spine{spine}", leaf), form.uplink, "uplink")
    return parts.nodes, parts.links


def clos(
    document: Document, form: ClosFile, defaults: LinkValues, plan: AddressPlan
) -> tuple[list[NodePart], list[LinkPart]]:
    """Returns the nodes and links of three tiers. Raises InputError."""
    leaves, aggregations = form.pods * form.leaves_per_pod, form.pods * form.aggregations_per_pod
    spine_links = aggregations * form.uplinks_per_aggregation
    limits = _Limits(document, ("clos",))
    limits.check("pods", leaves, plan.leaf_limit, "prefixes for leaves")
    limits.check("hosts_per_leaf", form.hosts_per_leaf, HOSTS_PER_LEAF_LIMIT, "the last byte of 10.0.L.K")
    limits.check(
        "aggregations_per_pod",
        form.aggregations_per_pod,
        DATA_PORT_MAX - form.hosts_per_leaf,
        "ports of a leaf",
    )
    limits.check(
        "uplinks_per_aggregation",
        form.uplinks_per_aggregation,
        DATA_PORT_MAX - form.leaves_per_pod,
        "ports of an aggregation switch",
    )
    limits.check("spines", -(-spine_links // form.spines), DATA_PORT_MAX, "ports of a spine")
    limits.check_links(leaves * (form.hosts_per_leaf + form.aggregations_per_pod) + spine_links)
    limits.refuse()
    parts = _Parts(document, defaults, ("clos",))
    parts.switches("leaf", leaves, SwitchRole.LEAF)
    parts.switches("agg", aggregations, SwitchRole.SPINE)
    parts.switches("spine", form.spines, SwitchRole.SPINE)
    for leaf in range(leaves):
        name = f"leaf{leaf + 1}"
        parts.add_hosts(name, form.hosts_per_leaf, form.host_link)
        pod, place = divmod(leaf, form.leaves_per_pod)
        for index in range(form.aggregations_per_pod):
            near = Endpoint(name, form.hosts_per_leaf + index + 1)
            far = Endpoint(f"agg{pod * form.aggregations_per_pod + index + 1}", place + 1)
            parts.link(near, far, form.uplink, "uplink")
    for index in range(spine_links):
        aggregation, uplink = divmod(index, form.uplinks_per_aggregation)
        layer, spine = divmod(index, form.spines)
        near = Endpoint(f"agg{aggregation + 1}", form.leaves_per_pod + uplink + 1)
        parts.link(near, Endpoint(f"spine{spine + 1}", layer + 1), form.spine_link, "spine_link")
    return parts.nodes, parts.links


def link_part(
    document: Document, a: Endpoint, b: Endpoint, values: list[LinkValues], path: KeyPath
) -> LinkPart:
    """Returns a link with the first rate, delay and overhead in `values`. Raises InputError."""
    rate = next((given.rate for given in values if given.rate is not None), None)
    delay = next((given.delay for given in values if given.delay is not None), None)
    overhead = next((given.overhead for given in values if given.overhead is not None), DEFAULT_OVERHEAD)
    if rate is None or delay is None:
        key = "rate" if rate is None else "delay"
        rule = f"no {key} here and none in defaults; add {'rate: 1Gbps' if rate is None else 'delay: 500ns'}"
        raise InputError([document.problem((*path, key), rule)])
    return LinkPart(a, b, rate, delay, overhead, path)


@dataclass
class _Limits:
    """Collects exceeded limits, so that all are reported at once and before anything is built."""

    document: Document
    path: KeyPath
    problems: list[Problem] = field(default_factory=list)

    def check(self, key: str, value: int, limit: int, why: str) -> None:
        if value > limit:
            self.add(key, f"must be at most {max(limit, 0)} ({why})")

    def check_links(self, links: int) -> None:
        if links > _LINKS_LIMIT:
            rule = f"this makes {links} links; the limit of a compact form is {_LINKS_LIMIT}"
            self.problems.append(self.document.problem(self.path, rule))

    def add(self, key: str, rule: str) -> None:
        self.problems.append(self.document.problem((*self.path, key), rule))

    def refuse(self) -> None:
        if self.problems:
            raise InputError(self.problems)
