"""Reads configuration files into a checked FabricConfig."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from eeon_control import data
from eeon_control.config.model import FabricConfig
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.config.short_forms import SHORT_KEYS
from eeon_control.errors import InputError, Problem
from eeon_control.sources import Document, KeyPath, parse_yaml, read_yaml
from eeon_control.units import DataRate
from eeon_control.validation import did_you_mean, input_error


def load(*names_or_paths: str | Path) -> FabricConfig:
    """Reads one or more files, later ones overriding earlier ones, and checks them as far as possible without
    a topology.

    Each is a path or the name of a packaged example. Raises DataNotFound or InputError.
    """
    return from_document(read(*names_or_paths))


def read(*names_or_paths: str | Path) -> Document:
    """Returns the files as one document, unchecked. Raises DataNotFound or InputError."""
    assert names_or_paths, "a configuration needs at least one file"
    document: Document | None = None
    problems: list[Problem] = []
    for path in [data.find_yaml("examples", name) for name in names_or_paths]:
        try:
            part = read_yaml(path)
        except InputError as error:
            problems += error.problems
            continue
        document = part if document is None else document.merged_with(part)
    if problems:
        raise InputError(problems)
    assert document is not None
    return document


def from_text(text: str, name: str = "<text>") -> FabricConfig:
    """Reads a configuration from YAML text; errors call the file `name`."""
    return from_document(parse_yaml(text, name))


def from_value(value: dict[str, object], source: str) -> FabricConfig:
    """Reads a configuration from the plain values of a file; errors call the file `source`."""
    return from_document(Document.of_value(value, source))


def overridden(config: FabricConfig, changes: dict[str, object]) -> FabricConfig:
    """Returns the configuration with some keys changed, each given by its dotted path and a plain value.

    `overridden(config, {"roles.uplink.eee": "120us100", "routing.seed": 7})`. The result is checked like a
    file; errors call the place `<override>`.
    """
    root: dict[str, object] = {}
    for dotted, value in changes.items():
        *above, last = dotted.split(".")
        here = root
        for step in above:
            inner = here.setdefault(step, {})
            assert isinstance(inner, dict), f"{dotted} lies below a value that another change gives"
            here = inner
        here[last] = value
    return from_document(config.document.merged_with(Document.of_value(root, "<override>")))


def from_document(document: Document) -> FabricConfig:
    """Checks a document. Raises InputError with all broken rules, at most one per place."""
    problems = list(_check_names(document))
    try:
        config = FabricConfig.model_validate(_with_presets(document.value))
    except ValidationError as error:
        problems += input_error(error, document, FabricConfig, SHORT_KEYS).problems
        raise InputError({(one.place, one.key): one for one in reversed(problems)}.values()) from None
    config._document = document
    problems += _check_speeds(config)
    if problems:
        raise InputError(problems)
    return config


def _with_presets(value: dict[str, object]) -> dict[str, object]:
    """Returns the document with the presets in its EEE profiles; the model checks parts of wrong shape."""
    profiles = value.get("profiles") or {}
    if not isinstance(profiles, dict):
        return value
    eee = profiles.get("eee") or {}
    if not isinstance(eee, dict):
        return value
    return {**value, "profiles": {**profiles, "eee": {**eee, **EEE_PRESETS}}}


def _check_names(document: Document) -> Iterator[Problem]:
    """Yields problems of unknown profiles and redefined presets. Reads the plain values, so that it finds
    them even if the file breaks other rules."""
    for name in EEE_PRESETS:
        if document.has(("profiles", "eee", name)):
            yield document.problem(("profiles", "eee", name), "this name is a preset; choose another name")
    known = {kind: dict.fromkeys(document.mapping(("profiles", kind))) for kind in ("queue", "eee", "pfc")}
    known["eee"] = dict.fromkeys(EEE_PRESETS) | known["eee"]
    kinds = dict.fromkeys(("roles", "switches", "ports"), ("queue", "eee")) | {"classes": ("pfc",)}
    for level, of_level in kinds.items():
        for owner, kind in product(document.mapping((level,)), of_level):
            named, names = document.get((level, owner, kind)), known[kind]
            if isinstance(named, str) and named not in names:
                rule = f"unknown {kind} profile{did_you_mean(named, names)}; there are "
                yield document.problem((level, owner, kind), rule + (", ".join(names) or "none"))
    if document.has(("roles", "host", "queue")):
        yield document.problem(
            ("roles", "host", "queue"), "queue profiles are for switch ports; a host's NIC takes only eee"
        )


def _check_speeds(config: FabricConfig) -> Iterator[Problem]:
    """Yields problems of EEE profiles whose `by_speed` contradicts them."""
    for name, profile in config.profiles.eee.items():
        for rate, rule in profile.broken_speeds():
            path: KeyPath = ("profiles", "eee", name, "by_speed")
            given = next(
                (key for key in config.document.mapping(path) if DataRate.parse(key) == rate), str(rate)
            )
            yield config.document.problem((*path, given), f"with the rest of the profile: {rule}", "")
