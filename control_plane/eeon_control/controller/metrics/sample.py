"""What one scrape sees: plain values, gathered on the controller's event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eeon_control.controller.counts import Restores
from eeon_control.fabric.read import Observation
from eeon_control.topology import Switch


@dataclass
class PortAccount:
    """Sums over all readings of a port. Joules stay None where the PHY's power is not known."""

    lpi_ps: int = 0
    transition_ps: int = 0
    joules: float | None = None
    legacy_joules: float | None = None


@dataclass(frozen=True)
class SwitchSample:
    """One switch. `observation` is None when there is none young enough; `age_seconds` is its age."""

    switch: Switch
    up: bool
    primary: bool
    in_sync: bool
    drift_entries: int
    connections_lost: int
    refusals: int
    restores: Restores
    buffers: Mapping[int, int | None] = field(default_factory=dict)
    """By port, the limit in bytes; None where it counts packets."""
    storms: Mapping[int, tuple[int, bool]] = field(default_factory=dict)
    """By queue that a watchdog looks after: storms so far, and whether it is in one."""
    down: frozenset[int] | None = None
    """Ports that are down; None where nobody tells."""
    observation: Observation | None = None
    age_seconds: float = 0.0
    reading_seconds: float = 0.0
    accounts: Mapping[int, PortAccount] = field(default_factory=dict)


@dataclass(frozen=True)
class FabricSample:
    """The whole fabric. `applies` and `finished`: counts by result."""

    version: str
    election_id: int
    in_charge: bool
    readable: bool
    revision: int
    journal: bool
    confirm_seconds_left: float | None
    applies: Mapping[str, int]
    finished: Mapping[tuple[str, str], int]
    switches: tuple[SwitchSample, ...]
