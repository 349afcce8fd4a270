"""Expands the compact forms of a topology file, `leaf_spine` and `clos`, to nodes and links.

Leaves are leaf1, leaf2, ..., aggregation switches agg1, ..., spines spine1, ..., hosts h1, ..., each numbered
across the whole fabric. Ports count from 1, as on front panels: a leaf's hosts first, then its uplinks; an
aggregation switch's leaves first, then its links to spines.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from eeon_control.constants import DATA_PORT_MAX
from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, KeyPath
from eeon_control.topology.addresses import HOSTS_PER_LEAF_LIMIT, Addressing
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

    def pods(self, form: LeafSpineFile | ClosFile, pods: int, leaves: int, prefix: str, above: int) -> None:
        """Links every leaf of every pod to its hosts, and to the pod's switches above it, which have this
        prefix. `leaves`, `above`: their numbers per pod."""
        for leaf in range(pods * leaves):
            name = f"leaf{leaf + 1}"
            for port in range(1, form.hosts_per_leaf + 1):
                self.hosts += 1
                self.nodes.append(NodePart(f"h{self.hosts}", True, None, self.path))
                self.link(Endpoint(name, port), Endpoint(f"h{self.hosts}", 0), form.host_link, "host_link")
            pod, place = divmod(leaf, leaves)
            for index in range(above):
                near = Endpoint(name, form.hosts_per_leaf + index + 1)
                far = Endpoint(f"{prefix}{pod * above + index + 1}", place + 1)
                self.link(near, far, form.uplink, "uplink")


def leaf_spine(
    document: Document, form: LeafSpineFile, defaults: LinkValues, plan: Addressing
) -> tuple[list[NodePart], list[LinkPart]]:
    """Returns the nodes and links of two tiers. Raises InputError."""
    path: KeyPath = ("leaf_spine",)
    limits = [
        ("leaves", form.leaves, plan.leaf_limit, "prefixes for leaves"),
        ("leaves", form.leaves, DATA_PORT_MAX, "ports of a spine"),
        ("hosts_per_leaf", form.hosts_per_leaf, HOSTS_PER_LEAF_LIMIT, "the last byte of 10.0.L.K"),
        ("spines", form.spines, DATA_PORT_MAX - form.hosts_per_leaf, "ports of a leaf"),
    ]
    problems = _above(document, path, limits, form.leaves * (form.hosts_per_leaf + form.spines))
    if form.spines == 0 and form.leaves > 1:
        problems.append(document.problem((*path, "spines"), "two or more leaves need at least one spine"))
    if problems:
        raise InputError(problems)
    parts = _Parts(document, defaults, path)
    parts.switches("leaf", form.leaves, SwitchRole.LEAF)
    parts.switches("spine", form.spines, SwitchRole.SPINE)
    parts.pods(form, 1, form.leaves, "spine", form.spines)
    return parts.nodes, parts.links


def clos(
    document: Document, form: ClosFile, defaults: LinkValues, plan: Addressing
) -> tuple[list[NodePart], list[LinkPart]]:
    """Returns the nodes and links of three tiers. Raises InputError."""
    path: KeyPath = ("clos",)
    leaves, aggregations = form.pods * form.leaves_per_pod, form.pods * form.aggregations_per_pod
    of_leaf, of_aggregation = form.aggregations_per_pod, form.uplinks_per_aggregation
    spine_links = aggregations * of_aggregation
    limits = [
        ("pods", leaves, plan.leaf_limit, "prefixes for leaves"),
        ("hosts_per_leaf", form.hosts_per_leaf, HOSTS_PER_LEAF_LIMIT, "the last byte of 10.0.L.K"),
        ("aggregations_per_pod", of_leaf, DATA_PORT_MAX - form.hosts_per_leaf, "ports of a leaf"),
        (
            "uplinks_per_aggregation",
            of_aggregation,
            DATA_PORT_MAX - form.leaves_per_pod,
            "ports of an aggregation switch",
        ),
        ("spines", -(-spine_links // form.spines), DATA_PORT_MAX, "ports of a spine"),
    ]
    if problems := _above(document, path, limits, leaves * (form.hosts_per_leaf + of_leaf) + spine_links):
        raise InputError(problems)
    parts = _Parts(document, defaults, path)
    parts.switches("leaf", leaves, SwitchRole.LEAF)
    parts.switches("agg", aggregations, SwitchRole.SPINE)
    parts.switches("spine", form.spines, SwitchRole.SPINE)
    parts.pods(form, form.pods, form.leaves_per_pod, "agg", of_leaf)
    for index in range(spine_links):
        aggregation, uplink = divmod(index, of_aggregation)
        layer, spine = divmod(index, form.spines)
        near = Endpoint(f"agg{aggregation + 1}", form.leaves_per_pod + uplink + 1)
        parts.link(near, Endpoint(f"spine{spine + 1}", layer + 1), form.spine_link, "spine_link")
    return parts.nodes, parts.links


def _above(
    document: Document, path: KeyPath, limits: Iterable[tuple[str, int, int, str]], links: int
) -> list[Problem]:
    """Returns a problem for each number above its limit. `limits`: key, number, limit and its reason."""
    problems = [
        document.problem((*path, key), f"must be at most {max(limit, 0)} ({why})")
        for key, value, limit, why in limits
        if value > limit
    ]
    if links > _LINKS_LIMIT:
        rule = f"this makes {links} links; the limit of a compact form is {_LINKS_LIMIT}"
        problems.append(document.problem(path, rule))
    return problems


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
