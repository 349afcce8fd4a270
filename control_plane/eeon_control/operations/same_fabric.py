"""Checks that a revision belongs to the fabric to which its content is to be written."""

from dataclasses import replace

from eeon_control import topology as topologies
from eeon_control.errors import StateError
from eeon_control.state import FabricKind, Intended
from eeon_control.targets import Targets


def difference(then: Intended, now: Intended) -> str:
    """Returns why one fabric's intended configuration does not fit another fabric; empty if it does.

    The links of a live fabric have its scale, on which thresholds depend. Other links may have been changed
    permanently; a rollback across such a change is the user's decision.
    """
    made_for, here = FabricKind.of(then.targets), FabricKind.of(now.targets)
    if made_for != here:
        return f"was made for another fabric ({made_for}); this one is: {here}"
    if here.name == "live fabric":
        rates = {port.name: port.rate for port in now.topology.ports()}
        for port in then.topology.ports():
            rate = rates.get(port.name, port.rate)
            if rate != port.rate:
                return (
                    f"was made for another scale of the fabric: {port.name} had {port.rate}, now has {rate}"
                )
    return ""


def given(targets: Targets, then: Intended) -> Intended:
    """Returns `then` for a targets file's fabric, with its topology if it names one. Raises InputError."""
    links = then.topology if targets.topology is None else topologies.load(targets.topology)
    return replace(then, topology=links, targets=targets)


def check(number: int, then: Intended, now: Intended) -> None:
    """Raises StateError if revision `number`, which intends `then`, is not for the fabric of `now`."""
    found = difference(then, now)
    if found:
        raise StateError(
            f"revision {number} {found}; nothing was written. `eeon config history` shows the fabric of "
            "each revision; to change another fabric, give its targets file with -T"
        )
