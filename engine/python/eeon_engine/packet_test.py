"""One switch for packet tests of any v1model program: in this process, in virtual time, without root.

    switch = PacketSwitch("build/router.json", "build/router.p4info.txtpb")
    switch.insert("ipv4_lpm", {"hdr.ipv4.dst": "10.0.1.0/24"}, "forward", port=2)
    assert switch.send(1, Ether() / IP(dst="10.0.1.7")) == [(2, bytes(expected))]

pytest provides it as the fixture `eeon_switch` once this package is installed (`pytest_plugin`).
"""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple, SupportsBytes

from finsy import (
    P4CloneSessionEntry,
    P4MulticastGroupEntry,
    P4Schema,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
)
from google.protobuf import text_format

from ._engine import Program, Switch, SwitchHandle
from .exceptions import ConfigError
from .p4runtime import Writer
from .p4runtime.messages import p4i, p4r
from .p4runtime.packet_io import MAX_PACKET

IDLE_LIMIT_PS = 60 * 10**12
"""A packet that is still inside after a minute of virtual time loops forever."""
_BMV2_TICK_PS = 1_000_000
_LAST_PORT = (1 << 9) - 1
"""The largest port number in v1model's `standard_metadata`."""
_CPU_PORT = _LAST_PORT - 1
_OF_INSERT = ("self", "match", "priority", "params")
"""Arguments of `PacketSwitch.insert` that P4 allows as names of parameters."""


class Departure(NamedTuple):
    """A frame that left the switch, without FCS; equal to the tuple of its fields."""

    port: int
    frame: bytes


class PacketSwitch:
    """A switch with ports 0 to 511 except 510, the CPU port, all without a rate limit. Its timestamps count
    microseconds, as BMv2's do.

    `program` is a BMv2 JSON, `p4info` the P4Info in text format that p4c writes with `--p4runtime-files`.
    Without `p4info`, entries can only be written through `control`. Raises `ProgramError` for a program that
    the engine cannot run, and OSError for a file that cannot be read.
    """

    def __init__(
        self,
        program: PathLike[str] | str,
        p4info: PathLike[str] | str | None = None,
        *,
        seed: int = 0,
        priorities: int = 1,
    ) -> None:
        self._switch = Switch(
            Program(Path(program).read_bytes()),
            tick_ps=_BMV2_TICK_PS,
            cpu_port=_CPU_PORT,
            seed=seed,
            priorities=priorities,
        )
        self._entries: tuple[P4Schema, Writer] | None = None
        if p4info is not None:
            try:
                info = text_format.Parse(Path(p4info).read_text(encoding="utf-8-sig"), p4i.P4Info())
            except (text_format.ParseError, UnicodeDecodeError) as error:
                raise ConfigError(f"{p4info}: is not P4Info in text format: {error}") from error
            self._entries = P4Schema(info), Writer(self._switch, info)

    @property
    def control(self) -> SwitchHandle:
        """The switch's control interface: BMv2's calls by name, counters, registers, meters, packet-outs."""
        return self._switch

    @property
    def now_ps(self) -> int:
        """The switch's clock, in picoseconds."""
        return self._switch.now_ps

    # ---- entries

    def insert(
        self,
        table: str,
        match: Mapping[str, object],
        action: str,
        *,
        priority: int = 0,
        params: Mapping[str, object] | None = None,
        **named: object,
    ) -> None:
        """Inserts a table entry by the names in the P4Info.

        A match value is a number or text: `10.0.0.0/8` for LPM, `0x8/&0xf` for ternary, `1...9` for range; a
        match or a parameter may be an address as text. `params` holds the parameters that have the
        name of an argument of `insert`, such as `priority`. Raises `ConfigError` with the reason if it is
        refused.
        """
        given = {**(params or {}), **named}
        _check_none(table, {**match, **given})
        self._check_own_names(action, given)
        self._write(
            p4r.Update.INSERT,
            P4TableEntry(
                table, match=P4TableMatch(match), action=P4TableAction(action, **given), priority=priority
            ),
        )

    def _check_own_names(self, action: str, given: Mapping[str, object]) -> None:
        """Raises `ConfigError` for a missing parameter that has the name of an argument of `insert`."""
        if self._entries is None or (found := self._entries[0].actions.get(action)) is None:
            return
        for param in found.params:
            if param.name in _OF_INSERT and param.name not in given:
                raise ConfigError(
                    f"action {action}: its parameter '{param.name}' has the name of an argument of insert; "
                    f'give params={{"{param.name}": ...}}'
                )

    def set_default(self, table: str, action: str, **params: object) -> None:
        """Sets a table's default action."""
        _check_none(table, params)
        entry = P4TableEntry(table, action=P4TableAction(action, **params), is_default_action=True)
        self._write(p4r.Update.MODIFY, entry)

    def multicast(self, group: int, ports: Iterable[int]) -> None:
        """Makes a multicast group with one copy to each port; copy n has `egress_rid` n, starting from 0."""
        replicas = [(port, instance) for instance, port in enumerate(ports)]
        self._write(p4r.Update.INSERT, P4MulticastGroupEntry(group, replicas=replicas))

    def clone_session(self, session: int, ports: Iterable[int]) -> None:
        """Makes a clone session that copies to these ports."""
        replicas = [(port, instance) for instance, port in enumerate(ports)]
        self._write(p4r.Update.INSERT, P4CloneSessionEntry(session, replicas=replicas))

    def _write(
        self,
        kind: p4r.Update.Type.ValueType,
        entity: P4TableEntry | P4MulticastGroupEntry | P4CloneSessionEntry,
    ) -> None:
        if self._entries is None:
            raise ConfigError("entries need the program's P4Info; give it with the program")
        schema, writer = self._entries
        try:
            update = p4r.Update(type=kind, entity=entity.encode(schema))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise ConfigError(f"{_named(entity)}: {error}") from error
        writer.write(p4r.WriteRequest(updates=[update]))

    # ---- packets

    def send(self, port: int, packet: bytes | SupportsBytes) -> list[Departure]:
        """Sends a packet into a port and runs the switch until it is idle. Returns the departures in order.

        A packet is bytes, or an object that `bytes()` converts, such as a scapy packet. Packets to the CPU
        port are included. Raises `ConfigError` for a port that the switch does not have, for a packet that is
        too long, and if a packet is still inside after a minute of virtual time, for example one that is
        recirculated forever. Raises `TypeError` for an object that is not a packet.
        """
        if port == _CPU_PORT:
            raise ConfigError(f"port {port} is the CPU port; control.packet_out sends packets from the CPU")
        if not 0 <= port <= _LAST_PORT:
            raise ConfigError(f"port {port}: a switch has ports 0 to {_LAST_PORT}")
        # `bytes()` converts a number n to n zeros.
        if not isinstance(packet, bytes | bytearray | memoryview) and not hasattr(packet, "__bytes__"):
            raise TypeError(
                f"a packet must be bytes or have __bytes__; {packet!r:.80} is of type {type(packet).__name__}"
            )
        frame = bytes(packet)
        if len(frame) > MAX_PACKET:
            raise ConfigError(f"a packet of {len(frame)} bytes; a switch takes up to {MAX_PACKET}")
        self._switch.inject(port, frame)
        limit = self._switch.now_ps + IDLE_LIMIT_PS
        departures: list[Departure] = []
        while (due := self._switch.next_event_ps) is not None:
            if due > limit:
                raise ConfigError(f"the switch still holds packets a minute after one arrived on port {port}")
            departures += [Departure(out, frame) for _, out, frame in self._switch.advance_to(due)]
        return departures


def _check_none(table: str, values: Mapping[str, object]) -> None:
    """Raises `ConfigError` for a value of None, which finsy refuses without a reason."""
    for name, value in values.items():
        if value is None:
            raise ConfigError(f"table {table}: '{name}' is None; give a number or an address")


def _named(entity: P4TableEntry | P4MulticastGroupEntry | P4CloneSessionEntry) -> str:
    """Returns the object of an entry, in words."""
    match entity:
        case P4TableEntry():
            return f"table {entity.table_id}"
        case P4MulticastGroupEntry():
            return f"multicast group {entity.multicast_group_id}"
        case P4CloneSessionEntry():
            return f"clone session {entity.session_id}"
