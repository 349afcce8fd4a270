"""Traffic classes: the mapping of DSCP and PCP to a port's eight queues."""

from typing import Annotated

from pydantic import AfterValidator, Field

from eeon_control.model_base import Strict, of_bytes, whole
from eeon_control.units import Bytes

PRIORITIES = 8
"""Number of a port's queues, numbered from 0: the range of v1model's 3-bit field `priority`."""
DEFAULT_CLASS = "default"
"""The class of packets that belong to no other class."""


class TrafficClass(Strict):
    """One class of traffic: its packets and its queue."""

    priority: Annotated[int, *whole(0, PRIORITIES - 1, "a priority")]
    """The queue. 7 is served first; a switch must be started with eight queues per port."""
    dscp: Annotated[list[Annotated[int, *whole(0, 63, "a DSCP")]], Field(default_factory=list)]
    """DSCPs of the class's IP packets (RFC 2474)."""
    pcp: Annotated[list[Annotated[int, *whole(0, 7, "a PCP")]], Field(default_factory=list)]
    """PCPs of tagged frames (IEEE 802.1Q) whose DSCP no class names."""
    pfc: str | None = None
    """Name of a PFC profile: the class is lossless on every link of the fabric. Not for priority 7."""
    quantum: Annotated[Bytes, *of_bytes("quantum", above_zero=True)] | None = None
    """Bytes that the queue may send at each of its turns. Queues with a quantum share the port by weight
    (deficit round robin), at the priority of the highest of them; other queues are strict. Not for priority
    7. A setting of twins; P4Runtime cannot set it."""


def _consistent(classes: dict[str, TrafficClass]) -> dict[str, TrafficClass]:
    """Refuses a DSCP or PCP in two classes, and a class without either."""
    for key in ("dscp", "pcp"):
        owner: dict[int, str] = {}
        for name, one in classes.items():
            for value in getattr(one, key):
                if value in owner:
                    twice = "twice in" if owner[value] == name else f"in {owner[value]} and in"
                    raise ValueError(f"{key} {value} is {twice} {name}; give it to one class, once")
                owner[value] = name
    for name, one in classes.items():
        given = bool(one.dscp or one.pcp)
        if name == DEFAULT_CLASS and given:
            raise ValueError(f"{name} is the class of all other packets; remove its dscp and pcp")
        if name != DEFAULT_CLASS and not given:
            raise ValueError(f"{name} has neither dscp nor pcp, so no packet would match it; add one")
    return classes


Classes = Annotated[dict[str, TrafficClass], AfterValidator(_consistent)]
"""Classes by name; without classes, every port has one queue."""


def priority_of(classes: dict[str, TrafficClass], name: str) -> int | None:
    """Returns the queue of a class, also of an implicit `default`; None for an unknown class."""
    if name == DEFAULT_CLASS:
        return default_priority(classes)
    return classes[name].priority if name in classes else None


def default_priority(classes: dict[str, TrafficClass]) -> int:
    """Returns the priority of packets that belong to no class."""
    one = classes.get(DEFAULT_CLASS)
    return 0 if one is None else one.priority
