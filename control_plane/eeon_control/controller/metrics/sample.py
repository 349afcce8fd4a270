"""The data of one scrape: plain values, gathered on the controller's event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eeon_control.controller.counts import Restores
from eeon_control.fabric.read import Observation
from eeon_control.topology import Switch


@dataclass
class PortAccount:
    """Sums over all readings of a port. Joules stay None if the PHY's power is unknown."""

    lpi_ps: int = 0
    transition_ps: int = 0
    joules: float | None = None
    legacy_joules: float | None = None


@dataclass(frozen=True)
class SwitchSample:
    """One switch. `values`: its metrics without a further label, by name. `observation` is None without a
    recent one."""

    switch: Switch
    values: Mapping[str, float]
    restores: Restores
    buffers: Mapping[int, int | None] = field(default_factory=dict)
    """The buffer limits in bytes, by port; None if the limit counts packets."""
    storms: Mapping[int, tuple[int, bool]] = field(default_factory=dict)
    """The number of storms so far, and whether there is one now, by watched queue."""
    down: frozenset[int] | None = None
    """The ports that are down; None if unknown."""
    observation: Observation | None = None
    accounts: Mapping[int, PortAccount] = field(default_factory=dict)


@dataclass(frozen=True)
class FabricSample:
    """The whole fabric. `values`: its metrics without a label, by name. `applies` and `finished`: counts by
    result."""

    version: str
    election_id: int
    values: Mapping[str, float]
    applies: Mapping[str, int]
    finished: Mapping[tuple[str, str], int]
    switches: tuple[SwitchSample, ...]
