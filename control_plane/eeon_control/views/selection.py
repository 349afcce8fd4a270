"""Which switches and ports are shown: by name and by role."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from eeon_control.errors import EeonError
from eeon_control.nearest import hint
from eeon_control.topology import PortRole, Topology


@dataclass(frozen=True)
class Selection:
    """Names and roles asked for; of each kind that is empty, all. All kinds must hold for a port."""

    switches: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    roles: tuple[PortRole, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return not (self.switches or self.ports or self.roles)


def select(topology: Topology, selection: Selection) -> Topology:
    """Returns the same topology with the selected switches and, of each, the selected ports.

    A switch none of whose ports is selected is left out. Raises EeonError for a name that is not there, or
    when nothing is left.
    """
    if selection.is_all:
        return topology
    _check(selection.switches, topology.switches, f"switch of {topology.name}")
    _check(selection.ports, [port.name for port in topology.ports()], f"linked port of {topology.name}")
    kept = {}
    for name, switch in topology.switches.items():
        ports = tuple(
            port
            for port in switch.ports
            if (not selection.switches or name in selection.switches)
            and (not selection.ports or port.name in selection.ports)
            and (not selection.roles or port.role in selection.roles)
        )
        if ports:
            kept[name] = replace(switch, ports=ports)
    if not kept:
        raise EeonError(
            f"no port of {topology.name} is in the selection; leave out --switch, --port or --role"
        )
    return replace(topology, switches=kept)


def _check(asked: Iterable[str], known: Collection[str], what: str) -> None:
    for name in asked:
        if name not in known:
            raise EeonError(f"{name} is not a {what}; {hint(name, known)}")
