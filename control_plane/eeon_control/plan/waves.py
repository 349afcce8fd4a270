"""The waves in which switches are changed. Pure."""

import re
from collections.abc import Collection, Mapping

from eeon_control.errors import EeonError
from eeon_control.topology import Topology

Waves = tuple[tuple[str, ...], ...]
"""The switches that are changed together, in the order of the waves."""

_SIZE = re.compile(r"(?P<number>\d{1,9})(?P<percent>%?)|rest", re.ASCII)


def waves(topology: Topology, text: str, among: Collection[str] | None = None) -> Waves:
    """Returns the waves of a text such as `1,10%,rest`: numbers of switches, percentages of all (rounded up),
    and the remaining ones. `among`: only these switches, None for all.

    Switches are in topology order. No two switches of a wave share a link, so that a leaf and its spine are
    never changed together. The neighbours of a wave stay connected without it, so that all spines of a leaf
    are never changed together. A wave that would violate this has fewer switches, and `rest` becomes several
    waves. Raises EeonError for an invalid text, for an empty wave, and for switches in no wave.
    """
    left = [name for name in topology.switches if among is None or name in among]
    total = len(left)
    links = _links(topology)
    found: list[tuple[str, ...]] = []
    for number, size in enumerate(text.split(","), 1):
        given = _SIZE.fullmatch(size.strip())
        if given is None:
            raise EeonError(f"--waves {text}: {size!r} is not a number of switches, a share (10%) or rest")
        wanted = total if given["number"] is None else int(given["number"])
        if given["percent"]:
            wanted = -(-min(wanted, 100) * total // 100)
        if not wanted or not left:
            why = f"earlier waves have all {total} switches" if wanted else "give at least 1"
            raise EeonError(f"--waves {text}: wave {number} ({size.strip()}) has no switch: {why}")
        while left:
            wave = _next(left, links, wanted)
            found.append(wave)
            left = [name for name in left if name not in wave]
            if given["number"] is not None:
                break
    if left:
        raise EeonError(f"--waves {text}: {len(left)} of {total} switches are in no wave; end with rest")
    return tuple(found)


def _links(topology: Topology) -> dict[str, set[str]]:
    return {
        name: {port.peer.node for port in switch.ports if port.peer.node in topology.switches}
        for name, switch in topology.switches.items()
    }


def _next(left: list[str], links: Mapping[str, set[str]], wanted: int) -> tuple[str, ...]:
    wave: list[str] = []
    for name in left:
        if len(wave) == wanted:
            break
        if not wave or (links[name].isdisjoint(wave) and _are_connected(links, links[name], {*wave, name})):
            wave.append(name)
    return tuple(wave)


def _are_connected(links: Mapping[str, set[str]], some: set[str], without: set[str]) -> bool:
    """Returns whether the switches of `some` reach each other without those of `without`."""
    missing = set(some)
    if not missing:
        return True
    reached = [missing.pop()]
    seen = set(reached)
    while missing and reached:
        new = links[reached.pop()] - seen - without
        seen |= new
        missing -= new
        reached += new
    return not missing
