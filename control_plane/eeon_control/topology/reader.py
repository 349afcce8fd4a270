"""Reads topology files into checked parts: nodes and links, each with its place in the file.

All forms of the file become the same list of nodes and links; later steps do not depend on the form.
"""

from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from eeon_control import data
from eeon_control.errors import InputError
from eeon_control.memory import cyclic_collector_paused
from eeon_control.sources import Document, parse_yaml, read_yaml
from eeon_control.topology import compact, containerlab
from eeon_control.topology.builder import LinkPart, NodePart, build, check_written
from eeon_control.topology.model import Topology
from eeon_control.topology.schema import TopologyFile
from eeon_control.validation import input_error


def load(name_or_path: str | Path) -> Topology:
    """Reads and checks a topology, given as a path or a packaged name.

    Raises DataNotFound if the file does not exist, and InputError with every broken rule as file:line.
    """
    path = data.find_yaml("topologies", name_or_path)
    return from_document(read_yaml(path), str(path))


def from_text(text: str, name: str = "<text>") -> Topology:
    """Reads and checks a topology given as YAML text; errors call the file `name`."""
    return from_document(parse_yaml(text, name), name)


def from_value(value: dict[str, object], source: str) -> Topology:
    """Checks a topology given as the plain values of a file; errors call the file `source`."""
    return from_document(Document.of_value(value, source), source)


def from_document(document: Document, source: str) -> Topology:
    """Checks a topology that has already been read; `source` is its origin."""
    assumed = ""
    if containerlab.is_one(document):
        document, assumed = containerlab.translated(document)
    _refuse_other_formats(document)
    try:
        file = TopologyFile.model_validate(document.value)
    except ValidationError as error:
        problems = list(input_error(error, document, TopologyFile).problems)
        told = {(one.place, one.key) for one in problems}
        problems += [one for one in check_written(document) if (one.place, one.key) not in told]
        raise InputError(problems) from None
    with cyclic_collector_paused():
        return replace(_from_file(document, file, source), assumed=assumed)


def _refuse_other_formats(document: Document) -> None:
    """Raises InputError for files of tools that describe fabrics with other programs."""
    here = document.value
    inner = here.get("topology")
    if isinstance(inner, dict) and "links" in inner and "nodes" not in inner:
        rule = (
            "is a p4app.json of p4-utils, which eeon does not read; `eeon lab up` runs a topology.json of "
            "the P4 tutorials: hosts with ip and mac, switches, and links with their ports, such as s1-p1"
        )
    elif isinstance(here.get("switches"), (dict, list)) and isinstance(here.get("links"), list):
        rule = "is a topology.json of the P4 tutorials; `eeon lab up` runs it"
    else:
        return
    raise InputError([document.problem((), rule, "")])


def _from_file(document: Document, file: TopologyFile, source: str) -> Topology:
    forms = [key for key in ("leaf_spine", "clos") if document.get((key,)) is not None]
    given = [key for key in ("nodes", "links") if document.get((key,)) is not None]
    if forms and len(forms) + len(given) > 1:
        rule = f"use either {forms[0]}, or {'clos' if len(forms) > 1 else 'nodes and links'}, not both"
        raise InputError([document.problem((key,), rule) for key in given or forms])
    if file.leaf_spine is not None:
        nodes, links = compact.leaf_spine(document, file.leaf_spine, file.defaults, file.addressing)
    elif file.clos is not None:
        nodes, links = compact.clos(document, file.clos, file.defaults, file.addressing)
    else:
        nodes, links = _long_form(document, file)
    return build(document, file, source, nodes, links)


def _long_form(document: Document, file: TopologyFile) -> tuple[list[NodePart], list[LinkPart]]:
    rule = "a topology needs nodes and links, leaf_spine, or clos"
    parts = (("nodes", file.nodes), ("links", file.links))
    if missing := [document.problem((key,), rule) for key, part in parts if not part]:
        raise InputError(missing)
    assert file.nodes is not None and file.links is not None
    nodes = [
        NodePart(name, node.kind == "host", node.role, ("nodes", name)) for name, node in file.nodes.items()
    ]
    links = []
    for index, link in enumerate(file.links):
        a, b = link.endpoints
        links.append(compact.link_part(document, a, b, [link, file.defaults], ("links", index)))
    return nodes, links
