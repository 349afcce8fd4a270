"""The stream of hops: the events of each packet at each port, recorded by the engine in bounded memory.

`record` starts it on a twin or on one switch (of a twin, or live); `take` ends and reads it. Recording does
not affect packets, and a switch without recording has no overhead.

    record(twin, {"kinds": ["sent", "dropped"], "ports": [("leaf1", 3)]})
    ...
    for event in take(twin).events(): ...
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import NamedTuple, TypedDict, cast

from ._engine import SwitchHandle, Twin

NONE = 0xFFFF_FFFF
"""Marks the absence of a flow or of values."""
_OTHER_CAUSES = {0xFE: "link_down", 0xFF: "nic"}
"""Causes of drops outside switches: a link that was down, a host's NIC."""


class FlowFilter(TypedDict, total=False):
    """Parts of a 5-tuple; omitted parts match any value."""

    source: str
    destination: str
    protocol: int
    source_port: int
    destination_port: int


class HopFilter(TypedDict, total=False):
    """Selects what is recorded. `kinds`: names of `Hop.kind`. `ports`: pairs of node and port. `from_ps`,
    `until_ps`: events from the first time to before the second. `flow`: packets of this flow, and events of
    ports. `limit`: number of events kept, by default 2**20, at most 2**24 (64 bytes each); further events are
    only counted. `snap_bytes`: bytes kept of each frame that is sent or dropped. `fields`: at most 16 fields
    of the program, whose values are kept after ingress and egress. `port_field`: the one of them that has,
    after ingress, the program's choice of the port."""

    kinds: list[str]
    ports: list[tuple[str, int]]
    from_ps: int
    until_ps: int
    flow: FlowFilter
    limit: int
    snap_bytes: int
    fields: list[str]
    port_field: str


class Flow(NamedTuple):
    """A 5-tuple."""

    source: str
    destination: str
    protocol: int
    source_port: int
    destination_port: int


class Hop(NamedTuple):
    """One event. Times are in picoseconds; depths are those of the port's queues without this packet.

    `kind`: `offered` (by a host to its NIC), `arrived`, `judged` (ingress ended with these `values`),
    `copied` (from packet `until_ps`), `queued`, `held` (its port's gate opens at `until_ps`), `paused` (its
    queue is, until `until_ps`), `slept` (a port began to; asleep at `until_ps`), `woke` (it began to; awake
    at `until_ps`), `recirculated` (back at `until_ps`), `sent` (its last bit at `until_ps`; depths are those
    left behind), `dropped` (for `cause`), `delivered`, `slowed` (a host's TCP sender reduced its congestion
    window from `length` to `queue_bytes` bytes; `flow` is that of its data). `packet`: numbered from 1 in the
    order in which hosts offer packets; 0 for events of ports and senders; copies have numbers from 2**40.
    `values`: those of the filter's fields, in order."""

    at_ps: int
    kind: str
    node: str
    port: int
    packet: int
    until_ps: int
    queue_bytes: int
    queue_packets: int
    priority: int
    length: int
    cause: str
    flow: Flow | None
    values: tuple[int, ...]
    frame: bytes


@dataclass(frozen=True)
class Hops:
    """A recording, in order of time. `lost`: number of events that the filter admitted but that exceeded its
    `limit`."""

    columns: Mapping[str, object]
    nodes: list[str]
    kinds: list[str]
    causes: list[str]
    fields: list[str]
    flows: list[Flow]
    lost: int
    limit: int

    def __len__(self) -> int:
        return len(cast(bytes, self.columns["kind"]))

    def column(self, name: str) -> array[int]:
        """Returns one column as numbers; `kind`, `node`, `cause` and `flow` are indices into the lists of
        their names."""
        code = _CODES[name]
        found = array(code)
        found.frombytes(cast(bytes, self.columns[name]))
        return found

    def events(self) -> Iterator[Hop]:
        """Returns every event with names instead of numbers."""
        # A million events are read in a second or two: iterators without a Python step per event look up the
        # names.
        values = array("Q")
        values.frombytes(cast(bytes, self.columns["field_values"]))
        width = len(self.fields)
        taken: dict[int, tuple[int, ...]] = {NONE: ()}
        if width:
            taken.update(
                zip(range(0, len(values), width), zip(*[iter(values)] * width, strict=True), strict=True)
            )
        flows: dict[int, Flow | None] = {NONE: None, **dict(enumerate(self.flows))}
        # Only drops have a cause.
        causes = [*self.causes, *[""] * (1 + max(_OTHER_CAUSES) - len(self.causes))]
        for at, name in _OTHER_CAUSES.items():
            causes[at] = name
        by_kind = [causes if kind == "dropped" else [""] * len(causes) for kind in self.kinds]
        cause_of = {(kind, at): name for kind, of in enumerate(by_kind) for at, name in enumerate(of)}
        kinds = self.column("kind")
        rows = zip(
            self.column("at_ps"),
            map(self.kinds.__getitem__, kinds),
            map(self.nodes.__getitem__, self.column("node")),
            self.column("port"),
            self.column("packet"),
            self.column("until_ps"),
            self.column("queue_bytes"),
            self.column("queue_packets"),
            self.column("priority"),
            self.column("bytes"),
            map(cause_of.__getitem__, zip(kinds, self.column("cause"), strict=True)),
            map(flows.__getitem__, self.column("flow")),
            map(taken.__getitem__, self.column("values")),
            self._frames(),
            strict=True,
        )
        return map(partial(tuple.__new__, Hop), rows)

    def _frames(self) -> Iterator[bytes]:
        frames = cast(bytes, self.columns["frames"])
        if not frames:
            return repeat(b"", len(self))
        pieces = zip(self.column("frame_at"), self.column("frame_len"), strict=True)
        return (frames[at : at + length] for at, length in pieces)


_CODES = {
    "at_ps": "Q",
    "packet": "Q",
    "until_ps": "Q",
    "queue_bytes": "Q",
    "queue_packets": "I",
    "bytes": "I",
    "flow": "I",
    "values": "I",
    "frame_at": "I",
    "frame_len": "H",
    "node": "H",
    "port": "H",
    "priority": "B",
    "kind": "B",
    "cause": "B",
}


def record(of: Twin | SwitchHandle, filter: HopFilter) -> None:
    """Starts recording hops. Raises `ConfigError` for an invalid filter; then nothing is recorded."""
    of.record_hops(json.dumps(filter))


def take(of: Twin | SwitchHandle) -> Hops | None:
    """Returns the recording, and ends it. None if nothing was being recorded."""
    columns = of.take_hops()
    if columns is None:
        return None
    lists = (cast("list[str]", columns[name]) for name in ("nodes", "kinds", "causes", "fields"))
    nodes, kinds, causes, fields = lists
    flows = [Flow(*flow) for flow in cast("list[tuple[str, str, int, int, int]]", columns["flows"])]
    lost, limit = cast(int, columns["lost"]), cast(int, columns["limit"])
    return Hops(columns, nodes, kinds, causes, fields, flows, lost, limit)
