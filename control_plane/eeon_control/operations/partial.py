"""An apply on some switches: the others keep the intended configuration of the revision in force."""

import copy
from collections.abc import Collection

from eeon_control.config import EEE_PRESETS, FabricConfig, from_value
from eeon_control.config.model import Kind
from eeon_control.errors import InputError, Place, Problem, StateError
from eeon_control.state import Intended, Revision
from eeon_control.topology import Topology


def on_switches(held: Revision | None, meant: Intended, names: Collection[str]) -> Intended:
    """Returns the intended configuration of the revision in force, with that of `meant` on some switches.

    Raises StateError without a revision, or if it has another topology or program, and InputError if the
    configurations are incompatible.
    """
    what = f"--switch {', '.join(names)}"
    if held is None:
        raise StateError(f"{what}: no revision is in force for the other switches; apply to all first")
    held.intent.check_program(f"{what}: revision {held.number}", "--waves loads a new program gradually")
    if held.intent.topology != dict(meant.topology.document):
        raise StateError(
            f"{what}: revision {held.number} has another topology; apply to all switches, for example in "
            "--waves"
        )
    config = merged(held.intended().config, meant.config, meant.topology, names)
    return Intended(meant.topology, config, meant.targets)


def merged(held: FabricConfig, new: FabricConfig, topology: Topology, names: Collection[str]) -> FabricConfig:
    """Returns `held`, with the profiles of `new` attached to each port of the named switches. Pure.

    Settings of the whole fabric must be the same in both: classes, PFC, routing, PHY times, target settings.
    Raises InputError if they differ.
    """
    own = {
        "classes": (held.classes, new.classes),
        "profiles.pfc": (held.profiles.pfc, new.profiles.pfc),
        "routing": (held.routing, new.routing),
        "phy": (held.phy, new.phy),
        "target_settings": (held.target_settings, new.target_settings),
    }
    rule = (
        "differs from the revision in force and applies to the whole fabric: leave out --switch, and use "
        "--waves for a gradual change"
    )
    problems = [
        Problem(Place("--switch"), key, "", rule) for key, (one, other) in own.items() if one != other
    ]
    if problems:
        raise InputError(problems)
    value: dict[str, object] = copy.deepcopy(held.document.value)
    ports = _part(value, "ports")
    for name in names:
        for port in topology.switches[name].ports:
            kinds: tuple[Kind, ...] = ("queue", "eee")
            attached = {kind: new.attached(port, kind) or "off" for kind in kinds}
            ports[port.name] = {kind: _known(value, new, kind, of) for kind, of in attached.items()}
    return from_value(value, "the configuration in force with --switch")


def _known(value: dict[str, object], new: FabricConfig, kind: Kind, name: str) -> str:
    """Returns the name of `new`'s profile in `value`, and adds the profile if it is missing."""
    if kind == "eee" and name in EEE_PRESETS:
        return name
    profiles, wanted = _part(_part(value, "profiles"), kind), new.document.get(("profiles", kind, name))
    tried, number = name, 1
    while profiles.setdefault(tried, wanted) != wanted:
        number += 1
        tried = f"{name}_{number}"
    return tried


def _part(value: dict[str, object], key: str) -> dict[str, object]:
    part = value.get(key) or {}
    assert isinstance(part, dict), "the document was read as a configuration"
    value[key] = part
    return part
