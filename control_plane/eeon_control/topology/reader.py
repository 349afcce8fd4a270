"""From a topology file to checked parts: nodes and links, each with its place in the file.

`load` is the only way in. Both forms of the file end as the same list of nodes and links, and everything
after that does not know which form was used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eeon_control import data
from eeon_control.errors import InputError
from eeon_control.sources import Document, KeyPath, parse_yaml, read_yaml
from eeon_control.topology import addresses
from eeon_control.topology.builder import LinkPart, NodePart, build
from eeon_control.topology.model import Endpoint, SwitchRole, Topology
from eeon_control.topology.schema import DEFAULT_OVERHEAD, LeafSpineFile, LinkValues, TopologyFile

_FIRST_PORT = 1  # the compact form numbers ports from 1, as front panels do


def load(name_or_path: str | Path) -> Topology:
    """Read and check a topology: a path, or the name of one that ships.

    Raises DataNotFound when there is no such file, InputError with every broken rule as file:line.
    """
    path = data.find_yaml("topologies", name_or_path)
    return from_document(read_yaml(path), str(path))


def from_text(text: str, name: str = "<text>") -> Topology:
    """Read and check a topology given as YAML text; `name` stands for the file in errors."""
    return from_document(parse_yaml(text, name), name)


def from_value(value: dict[str, Any], source: str) -> Topology:
    """Check a topology given as the plain values of a file; `source` stands for the file in errors."""
    return from_document(Document.of_value(value, source), source)


def from_document(document: Document, source: str) -> Topology:
    """Check a topology that has been read already; `source` says where it comes from."""
    try:
        file = TopologyFile.model_validate(document.value)
    except ValidationError as error:
        raise document.from_validation(error, TopologyFile) from None
    if file.leaf_spine is not None:
        given = [key for key in ("nodes", "links") if document.get((key,)) is not None]
        if given:
            raise InputError(
                [
                    document.problem((key,), "use either leaf_spine, or nodes and links, not both")
                    for key in given
                ]
            )
        nodes, links = _expand_leaf_spine(document, file.leaf_spine, file.defaults)
    else:
        nodes, links = _long_form(document, file)
    return build(document, file.name, file.description, source, nodes, links)


def _long_form(document: Document, file: TopologyFile) -> tuple[list[NodePart], list[LinkPart]]:
    missing = [key for key, part in (("nodes", file.nodes), ("links", file.links)) if not part]
    if missing:
        raise InputError(
            [document.problem((key,), "a topology needs nodes and links, or leaf_spine") for key in missing]
        )
    assert file.nodes is not None and file.links is not None
    nodes = [
        NodePart(name, node.kind == "host", node.role, ("nodes", name)) for name, node in file.nodes.items()
    ]
    links = []
    for index, link in enumerate(file.links):
        path: KeyPath = ("links", index)
        links.append(_link(document, link.endpoints[0], link.endpoints[1], [link, file.defaults], path))
    return nodes, links


def _expand_leaf_spine(
    document: Document, form: LeafSpineFile, defaults: LinkValues
) -> tuple[list[NodePart], list[LinkPart]]:
    problems = []
    for key, value, limit, why in (
        ("leaves", form.leaves, addresses.LEAF_LIMIT, "the third byte of 10.0.L.K"),
        ("hosts_per_leaf", form.hosts_per_leaf, addresses.HOSTS_PER_LEAF_LIMIT, "the last byte of 10.0.L.K"),
        ("spines", form.spines, addresses.LEAF_LIMIT, "ports of a leaf"),
    ):
        if value > limit:
            problems.append(document.problem(("leaf_spine", key), f"at most {limit} ({why})"))
    if form.spines == 0 and form.leaves > 1:
        problems.append(document.problem(("leaf_spine", "spines"), "several leaves need at least one spine"))
    if problems:
        raise InputError(problems)

    root: KeyPath = ("leaf_spine",)
    nodes = [NodePart(f"leaf{leaf}", False, SwitchRole.LEAF, root) for leaf in range(1, form.leaves + 1)]
    nodes += [NodePart(f"spine{spine}", False, SwitchRole.SPINE, root) for spine in range(1, form.spines + 1)]
    links = []
    host_number = 0
    for leaf in range(1, form.leaves + 1):
        port = _FIRST_PORT
        for _ in range(form.hosts_per_leaf):
            host_number += 1
            nodes.append(NodePart(f"h{host_number}", True, None, root))
            links.append(
                _link(
                    document,
                    Endpoint(f"leaf{leaf}", port),
                    Endpoint(f"h{host_number}", 0),
                    [form.host_link, defaults],
                    (*root, "host_link"),
                )
            )
            port += 1
        for spine in range(1, form.spines + 1):
            links.append(
                _link(
                    document,
                    Endpoint(f"leaf{leaf}", port),
                    Endpoint(f"spine{spine}", leaf),
                    [form.uplink, defaults],
                    (*root, "uplink"),
                )
            )
            port += 1
    return nodes, links


def _link(document: Document, a: Endpoint, b: Endpoint, values: list[LinkValues], path: KeyPath) -> LinkPart:
    rate = next((given.rate for given in values if given.rate is not None), None)
    delay = next((given.delay for given in values if given.delay is not None), None)
    overhead = next((given.overhead for given in values if given.overhead is not None), DEFAULT_OVERHEAD)
    if rate is None or delay is None:
        key = "rate" if rate is None else "delay"
        raise InputError(
            [
                document.problem(
                    (*path, key),
                    f"no {key} here and none in defaults; "
                    f"add {'rate: 1Gbps' if rate is None else 'delay: 500ns'}",
                )
            ]
        )
    return LinkPart(a, b, rate, delay, overhead, path)
