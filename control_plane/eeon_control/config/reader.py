"""From configuration files to a checked FabricConfig."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eeon_control import data
from eeon_control.config.model import FabricConfig
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.errors import InputError, Place, Problem, Severity
from eeon_control.sources import Document, parse_yaml, read_yaml


def load(*names_or_paths: str | Path) -> FabricConfig:
    """Read one or more files, later ones over earlier ones, and check what can be checked without a topology.

    Each is a path or the name of an example that ships. Raises DataNotFound or InputError.
    """
    assert names_or_paths, "a configuration needs at least one file"
    document: Document | None = None
    for name in names_or_paths:
        part = read_yaml(data.find_yaml("examples", name))
        document = part if document is None else document.merged_with(part)
    assert document is not None
    return _from_document(document)


def from_text(text: str, name: str = "<text>") -> FabricConfig:
    """Read a configuration given as YAML text; `name` stands for the file in errors."""
    return _from_document(parse_yaml(text, name))


def from_value(value: dict[str, Any], source: str) -> FabricConfig:
    """Read a configuration given as the plain values of a file; `source` stands for the file in errors."""
    return _from_document(Document.of_value(value, source))


def overridden(config: FabricConfig, changes: dict[str, Any]) -> FabricConfig:
    """The same configuration with some keys changed, each given by its dotted path and a plain value.

    `overridden(config, {"roles.uplink.eee": "120us100", "routing.seed": 7})`. Checked like a file; errors
    call the place `<override>`.
    """
    root: dict[str, Any] = {}
    places: dict[tuple[str | int, ...], Place] = {}
    for dotted, value in changes.items():
        steps = tuple(dotted.split("."))
        here = root
        for step in steps[:-1]:
            here = here.setdefault(step, {})
        here[steps[-1]] = value
        for length in range(1, len(steps)):
            places.setdefault(steps[:length], config.document.place(steps[:length]))
        places[steps] = Place("<override>")
    return _from_document(config.document.merged_with(Document(root, places)))


def _from_document(document: Document) -> FabricConfig:
    redefined = [
        document.problem(("profiles", "eee", name), "this name is a preset; choose another name")
        for name in EEE_PRESETS
        if document.has(("profiles", "eee", name))
    ]
    if redefined:
        raise InputError(redefined)
    with_presets = {**document.value, "profiles": _add_presets(document.value.get("profiles"))}
    try:
        config = FabricConfig.model_validate(with_presets)
    except ValidationError as error:
        raise document.from_validation(error) from None
    config._document = document
    problems = list(_check_names(config, document))
    if problems:
        raise InputError(problems)
    return config


def _add_presets(profiles: Any) -> Any:
    if profiles is None:
        profiles = {}
    if not isinstance(profiles, dict):
        return profiles
    eee = profiles.get("eee")
    if eee is None:
        eee = {}
    return {**profiles, "eee": {**EEE_PRESETS, **eee} if isinstance(eee, dict) else eee}


def _check_names(config: FabricConfig, document: Document) -> list[Problem]:
    problems = []
    attachments = {("roles", role): getattr(config.roles, role) for role in type(config.roles).model_fields}
    attachments |= {("switches", name): value for name, value in config.switches.items()}
    attachments |= {("ports", name): value for name, value in config.ports.items()}
    for path, attachment in attachments.items():
        for kind in ("queue", "eee"):
            name = getattr(attachment, kind)
            known = getattr(config.profiles, kind)
            if name is not None and name not in known:
                problems.append(
                    document.problem(
                        (*path, kind),
                        f"there is no {kind} profile of that name; there are {', '.join(known) or 'none'}",
                        severity=Severity.ERROR,
                    )
                )
    if config.roles.host.queue is not None:
        problems.append(
            document.problem(
                ("roles", "host", "queue"), "queue profiles are for switch ports; a host's NIC takes only eee"
            )
        )
    return problems
