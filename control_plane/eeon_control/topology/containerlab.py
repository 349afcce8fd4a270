"""Converts topology files of containerlab (containerlab.dev) to this project's long form.

Nodes of kind `linux` are hosts, as are other containers, virtual machines and traffic generators. Bridges and
the machine that runs the lab are refused if they have a link; all other nodes are switches. Nodes without a
link, such as collectors, are omitted. A port's number is that in its interface's name. Rates and delays,
which the format lacks, come from `labels` of a link or from `defaults` at the top; otherwise they are
assumed, with a warning.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, KeyPath, Places

ASSUMED = {"rate": "10Gbps", "delay": "500ns"}
"""Values for links without their own; the delay is that of the packaged topologies."""

_HOST_KIND = "linux"
_HOST_KINDS = frozenset({_HOST_KIND, "ext-container", "generic_vm", "keysight_ixia-c-one", "spirent_stc"})
_BRIDGE = (
    "a bridge of the lab's machine: it forwards by MAC address, but the switches of a fabric route. Remove "
    "it, and link its neighbours to each other or to a switch"
)
_NO_NODES = {
    "bridge": _BRIDGE,
    "ovs-bridge": _BRIDGE,
    "host": f"the machine that runs the lab. Remove its links; a host of the fabric has kind {_HOST_KIND}",
}
_WIRES = ("veth", "veth-stitch", "brief")
_WAYS_OUT = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy", "bridge")
_LINK_KEYS = ("rate", "delay", "overhead")
_OWN_KEYS = ("name", "description", "addressing", "defaults")  # keys of this project's files
_LANES = 64
_PORT_FORMS = (
    r"[A-Za-z]*(\d{1,6})",  # eth1, Ethernet48, swp3, 3
    r"(?:e|ethernet-)1[-/](\d{1,6})(?:[-/](\d{1,2}))?",  # SR Linux
    r"Ethernet1/(\d{1,6})",  # slot 1
    r"Ethernet(\d{1,6})/(\d{1,2})",  # EOS
    r"eth(\d{1,6})_(\d{1,2})",  # EOS in containerlab
    r"[A-Za-z]+-?(?:0[-/]){1,4}(\d{1,6})",  # ge-0/0/3, Gi0/0/0/3
    r"(?:1[/.]){1,2}(\d{1,6})",  # 1/1/3, 1.3
    r"1/1/c(\d{1,6})/(\d{1,2})",  # SR OS
)
_MANAGEMENT = re.compile(r"eth0|(?:mgmt|ma|fxp)\d*|(?:mgmteth|management)\S*", re.IGNORECASE)
_FORMS = "such as eth1, e1-1, e1-1-2 (lane 2 of port 1), Ethernet4, Ethernet1/1, ge-0/0/1, 1/1/1 or 1/1/c1/1"


def is_one(document: Document) -> bool:
    """Returns whether a file is containerlab's: nodes below `topology`, or at the top, one of kind linux."""
    inner = document.value.get("topology")
    if isinstance(inner, dict):
        return "nodes" in inner
    nodes = document.value.get("nodes")
    if not isinstance(nodes, dict) or not nodes:
        return False
    kinds = [node.get("kind") if isinstance(node, dict) else None for node in nodes.values()]
    return _HOST_KIND in kinds and all(isinstance(kind, str) for kind in kinds)


def translated(document: Document) -> tuple[Document, str]:
    """Returns the fabric in the long form, with the original places in the file, and a text of the
    assumptions.

    Raises InputError for everything that the long form cannot express.
    """
    return _File(document).translated()


class _File:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._base: KeyPath = ("topology",) if isinstance(document.value.get("topology"), dict) else ()
        self._problems: list[Problem] = []
        self._nodes = self._mapping("nodes")
        self._free_names: set[str] = set()
        self._links = document.get((*self._base, "links"))

    def translated(self) -> tuple[Document, str]:
        """Raises InputError."""
        if not self._nodes:
            self._refuse((*self._base, "nodes"), "must be a mapping of names to nodes")
            raise InputError(self._problems)
        if not isinstance(self._links, list) or not self._links:
            self._refuse((*self._base, "links"), "a fabric needs at least one link")
            raise InputError(self._problems)
        kinds = {str(name): self._kind(str(name)) for name in self._nodes}
        self._free_names = {name for name, kind in kinds.items() if kind in _NO_NODES or kind in _HOST_KINDS}
        links = [self._link(index, link) for index, link in enumerate(self._links)]
        linked = Counter(end.partition(":")[0] for link in links for end in _ends(link))
        nodes: dict[str, object] = {
            name: {"kind": "host" if kind in _HOST_KINDS else "switch"}
            for name, kind in kinds.items()
            if name in linked
        }
        for name in nodes:
            if kinds[name] in _NO_NODES:
                rule = f"kind {kinds[name]} is {_NO_NODES[kinds[name]]}"
            elif kinds[name] in _HOST_KINDS and linked[name] > 1:
                rule = (
                    f"kind {kinds[name]} is a host, which has exactly one link, not {linked[name]}. Keep "
                    "one link of a bond, and give a router in a Linux container another kind"
                )
            else:
                continue
            self._refuse((*self._base, "nodes", name), rule, name)
        if self._problems:
            raise InputError(self._problems)
        own = {key: self._document.value[key] for key in _OWN_KEYS if key in self._document.value}
        if isinstance(own.get("name"), str):
            own["name"] = _name(str(own["name"]))
        given = own.get("defaults", {})
        defaults = {**ASSUMED, **given} if isinstance(given, dict) else given
        value = {"description": "from a containerlab file", **own, "defaults": defaults}
        told = "; ".join(_assumptions(links, given, kinds, linked))
        return Document({**value, "nodes": nodes, "links": links}, self._moved_up(links)), told

    def _link(self, index: int, link: object) -> dict[str, object]:
        """Returns one link in the long form, without the ends that cannot be parsed."""
        path: KeyPath = (*self._base, "links", index)
        found: dict[str, object] = {"endpoints": []}
        if not isinstance(link, dict):
            self._refuse(path, "a link must be a mapping with endpoints")
            return found
        kind = link.get("type", "veth")
        ends = link.get("endpoints")
        if kind in _WAYS_OUT:
            self._refuse(path, "leads out of the fabric; a link must join two nodes. Remove it", str(kind))
            return found
        if kind not in _WIRES or not isinstance(ends, list) or len(ends) != 2:
            self._refuse(path, "a link must have type veth and two endpoints", str(kind))
            return found
        numbered = [self._end((*path, "endpoints", side), end) for side, end in enumerate(ends)]
        found["endpoints"] = [end for end in numbered if end is not None]
        labels = link.get("labels") or {}
        if not isinstance(labels, dict):
            self._refuse((*path, "labels"), "write a mapping, such as {rate: 25Gbps, delay: 500ns}")
            labels = {}
        for values in (labels, link):
            found |= {key: values[key] for key in _LINK_KEYS if key in values}
        return found

    def _end(self, path: KeyPath, end: object) -> str | None:
        """Returns `leaf1:49` for `leaf1:e1-49`, or for `{node: leaf1, interface: e1-49}`."""
        if isinstance(end, dict):
            end = f"{end.get('node')}:{end.get('interface') or ''}"
        node, _, interface = str(end).partition(":")
        number = _number(interface)
        if number is None and interface and node in self._free_names:
            number = 0
        if node not in self._nodes:
            out = node in _WAYS_OUT
            rule = "leads out of the fabric; remove this link" if out else f"unknown node {node!r}"
            self._refuse(path, rule, str(end))
            return None
        if _MANAGEMENT.fullmatch(interface) and node not in self._free_names:
            rule = "a switch forwards nothing through its management port; remove the link, or name another"
            self._refuse(path, rule, str(end))
            return None
        if number is None:
            self._refuse(path, f"this interface name has no known port number; use a name {_FORMS}", str(end))
            return None
        return f"{node}:{number}"

    def _kind(self, name: str) -> str:
        """Returns the kind of a node: its own, its group's, or the default of all nodes."""
        node = self._nodes[name]
        own: Mapping[str, object] = node if isinstance(node, dict) else {}
        group = self._mapping("groups").get(str(own.get("group")))
        for given in (own, group, self._mapping("defaults") if self._base else None):
            if isinstance(given, dict) and isinstance(given.get("kind"), str):
                return str(given["kind"])
        self._refuse((*self._base, "nodes", name), "no kind here, in its group or in topology.defaults", name)
        return ""

    def _mapping(self, key: str) -> dict[str, object]:
        return self._document.mapping((*self._base, key))

    def _refuse(self, path: KeyPath, rule: str, value: object = None) -> None:
        self._problems.append(self._document.problem(path, rule, value))

    def _moved_up(self, links: list[dict[str, object]]) -> Places:
        """Returns the places of the long form: nodes and links are at the top, and labels of a link in it."""
        top = self._document.places
        inner = top.at(self._base)
        of_links = inner.of("links")
        below: dict[str | int, Places] = {}
        for index in range(len(links)):
            link = of_links.of(index)
            below[index] = Places(link.here, {**link.of("labels").below, **link.below})
        moved: dict[str | int, Places] = {"nodes": inner.of("nodes"), "links": Places(of_links.here, below)}
        return Places(top.here, {**top.below, **moved})


def _assumptions(
    links: list[dict[str, object]], given: object, kinds: Mapping[str, str], linked: Mapping[str, int]
) -> Iterator[str]:
    known = given if isinstance(given, dict) else {}
    missing = [key for key in ASSUMED if key not in known and any(key not in link for link in links)]
    if missing:
        says = " and ".join(f"{key} {ASSUMED[key]}" for key in missing)
        yield (
            f"links without {' and '.join(missing)} get {says}; set `labels: {{rate: 25Gbps, delay: "
            "500ns}` on a link, or `defaults` with these keys at the top"
        )
    switches = {name for name, kind in kinds.items() if kind not in _HOST_KINDS}
    ends = ([end.partition(":")[0] for end in _ends(link)] for link in links)
    stubs = [name for pair in ends if switches.issuperset(pair) for name in pair if linked[name] == 1]
    if _HOST_KINDS.isdisjoint(kinds.values()):
        yield f"no node is a host (kind {_HOST_KIND}), so no switch is a leaf, and nothing is routed"
    elif stubs:
        yield f"switches with one link: {', '.join(stubs)}; if they are hosts, give them kind {_HOST_KIND}"
    left_out = [name for name in kinds if name not in linked]
    if left_out:
        yield f"nodes without a link are left out: {', '.join(left_out)}"


def _ends(link: Mapping[str, object]) -> list[str]:
    ends = link["endpoints"]
    assert isinstance(ends, list)
    return ends


def _name(text: str) -> str:
    """Returns a fabric name for a lab's, which may have more characters, and leading digits."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", text)
    return plain if plain[:1].isalpha() else f"clab-{plain}"


def _number(interface: str) -> int | None:
    """Returns the port number of an interface; for lane L of port P, 64 x L + P. None if it has none."""
    for form in _PORT_FORMS:
        match = re.fullmatch(form, interface)
        if match is not None:
            port, *lanes = (int(number) for number in match.groups() if number is not None)
            if not lanes:
                return port
            return _LANES * lanes[0] + port if port < _LANES else None
    return None
