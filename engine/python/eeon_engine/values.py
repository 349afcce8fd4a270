"""Types of the values that Python and the engine exchange. `SwitchHandle` describes the calls.

Values are big-endian bytes of any length, checked against the width in the program. Handles are assigned by
the engine, ids by a client.
"""

from collections.abc import Sequence
from typing import Literal

ExactParam = tuple[Literal["exact"], bytes]
LpmParam = tuple[Literal["lpm"], bytes, int]
TernaryParam = tuple[Literal["ternary"], bytes, bytes]
RangeParam = tuple[Literal["range"], bytes, bytes]
ValidParam = tuple[Literal["valid"], bool]

MatchParam = ExactParam | LpmParam | TernaryParam | RangeParam | ValidParam
"""One field of a match key: value; value and prefix length; value and mask; first and last value; header
validity.
"""

EntryAction = (
    tuple[Literal["action"], str, list[bytes]] | tuple[Literal["member"], int] | tuple[Literal["group"], int]
)
"""The action of an entry: an action with its data, or a member or group of the table's action profile, by
handle."""

Entry = tuple[int, list[MatchParam], int, EntryAction]
"""One table entry as read back: handle, key, BMv2 priority (the lowest number wins), action."""

Choice = tuple[str, Sequence[bytes], int, int | None]
"""One action of a one-shot: name, data, weight, and the watched port, if any."""

ClientAction = (
    tuple[Literal["action"], str, Sequence[bytes]]
    | tuple[Literal["member"], int]
    | tuple[Literal["group"], int]
    | tuple[Literal["one_shot"], bytes, Sequence[Choice]]
)
"""The action of an entry in a client's form: an action with its data, a member or a group by its id, or a
one-shot with opaque bytes that are returned with it."""

ClientEntry = tuple[int, list[MatchParam], int, ClientAction, bytes, int]
"""One table entry as a client reads it: handle, key, BMv2 priority, action, the client's opaque bytes,
time-out in nanoseconds (0: none)."""

ClientDefault = tuple[ClientAction | None, bytes, bool]
"""A default entry as a client reads it: action (None if it is not set), the client's opaque bytes, and
whether it was set since the last reset."""

Share = tuple[int, int, int | None]
"""A member's part of a group: its id, its weight, and the watched port, if any."""

ClientGroup = tuple[int, list[Share], bytes]
"""A group as a client reads it: id, members in the given order, opaque bytes."""

ClientMember = tuple[int, str, list[bytes]]
"""A member as a client reads it: id, action, data."""

CounterCell = tuple[int, int]
"""Bytes and packets."""

MeterRate = tuple[float, int]
"""Rate in packets or bytes per microsecond, and burst in packets or bytes."""

Replica = tuple[int, int]
"""Egress port and replication id (`egress_rid`) of one copy."""

Member = tuple[int, str, list[bytes]]
"""A member of an action profile: handle, action, data."""

Group = tuple[int, list[int]]
"""A group of an action profile: handle, members in the order in which the selector numbers them."""

McGroup = tuple[int, list[int]]
"""A multicast group: id, nodes in the order of their copies."""

McNode = tuple[int, int, list[int], list[int]]
"""A multicast node: handle, replication id, ports, link aggregation groups (LAGs)."""

McLag = tuple[int, list[int]]
"""A LAG: number, ports."""

McCopies = tuple[int, list[Replica], bytes]
"""A multicast group: id, its copies in order, the opaque bytes of the client that wrote it."""

Session = tuple[int, int | None, int | None, int, int]
"""A clone session: number, port, multicast group, class of service, bytes of the longest copy (0: any)."""

PortInfo = tuple[int, str, bool]
"""A port: number, name of its interface, whether it is up."""

Savepoint = tuple[int, int]
"""A point in a batch, for `SwitchHandle.roll_back`."""

CrcParameters = tuple[int, int, int, bool, bool]
"""Polynomial without its top bit, initial remainder (not reflected), final xor, whether data bytes are
reflected, whether the remainder is reflected. After Ross Williams' model, as in BMv2's `crc_custom`."""
