"""An apply on some switches: the others keep the intended configuration of the revision in force."""

from __future__ import annotations

from collections.abc import Collection

from eeon_control.config.partial import on_switches as configuration_on_switches
from eeon_control.errors import StateError
from eeon_control.state import Intended, Revision


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
    config = configuration_on_switches(held.intended().config, meant.config, meant.topology, names)
    return Intended(meant.topology, config, meant.targets)
