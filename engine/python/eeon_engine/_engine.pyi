"""The extension: the engine itself, in Rust. Times are in picoseconds of virtual time, sizes in bytes without
FCS.

All classes may be used from any thread. Calls into the engine release the GIL; a control call waits at most a
few milliseconds, for the current slice of the run loop.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import final

from typing_extensions import Buffer

from .json_types import LiveCounts, PortStats, SwitchStats
from .values import (
    ClientAction,
    ClientDefault,
    ClientEntry,
    ClientGroup,
    ClientMember,
    CounterCell,
    CrcParameters,
    Entry,
    EntryAction,
    Group,
    MatchParam,
    McCopies,
    McGroup,
    McLag,
    McNode,
    Member,
    MeterRate,
    PortInfo,
    Replica,
    Savepoint,
    Share,
)

__all__ = [
    "EXCEPTIONS",
    "JSON_VERSION",
    "LiveSwitch",
    "Port",
    "Program",
    "SOURCE_DIGEST",
    "Switch",
    "SwitchHandle",
    "TCP_NAMES",
    "Traffic",
    "Twin",
    "check_workload",
    "parse_data_rate",
    "parse_size",
    "run_fluid",
]

EXCEPTIONS: tuple[str, ...]
"""The classes of `eeon_engine.exceptions` that the extension raises, by name."""

JSON_VERSION: str
"""The newest version of BMv2's JSON that `Program` understands, such as 2.24."""

TCP_NAMES: tuple[str, ...]
"""The values of `algorithm` in a `json_types.TcpSpec`."""

SOURCE_DIGEST: str
"""SHA-256, in hexadecimal, of the Rust sources from which this extension was built."""

def parse_data_rate(text: str) -> int:
    """Returns a rate with its unit, such as 10Gbps, in bits per second. Raises `ConfigError`."""

def check_workload(spec: str, hosts: Sequence[tuple[str, int, int]]) -> None:
    """Checks a workload, the JSON of a `WorkloadSpec`. Each host has its name, its link's rate in bits per
    second, and the link's overhead per frame in bytes. Raises `ConfigError` with the place in it."""

def parse_size(text: str) -> int:
    """Returns a size with its unit, such as 300KB (300 000) or 64KiB, in bytes. Raises `ConfigError`."""

def run_fluid(
    scheduler: str,
    hosts: int,
    rate_bps: int,
    flows: Sequence[tuple[int, int, int, int, int]],
    *,
    order: str = "total",
    work_conserving: bool = True,
    preempt: bool = False,
    step_ps: int | None = None,
    only_whole_transfers: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[list[tuple[int, int]], int]:
    """Returns the end of each transfer, (transfer, picoseconds) by number, for hosts around one non-blocking
    switch; and the number of flows that had no rate on arrival.

    There are no packets: each flow sends at the rate that `scheduler` (fair, fca, sebf, scf, dclas) assigns.
    A flow is (arrival in picoseconds, transfer, sending host, receiving host, bits). `order` (total,
    remaining), `work_conserving` and `preempt` are for fca. Events happen at multiples of `step_ps`; with
    `only_whole_transfers`, rates are recomputed when a transfer ends, not when each flow ends. `progress` is
    called from time to time with the number of finished flows. Raises `InvalidValueError`, and any exception
    of `progress`."""

@final
class Program:
    """A compiled P4 program: immutable, shared by the switches that run it.

    `json` is the output of p4c-bm2-ss. A program loaded `for_tracing` does the same to packets, but slower,
    and lets `SwitchHandle.take_journey` report the source position of each event. Raises `ProgramError` with
    the place in the JSON if the engine cannot run it.
    """

    def __new__(cls, json: bytes, *, for_tracing: bool = False) -> Program: ...
    @property
    def json(self) -> bytes:
        """The JSON from which it was loaded."""
    @property
    def digest(self) -> str:
        """SHA-256 of `json`, in hexadecimal."""

class SwitchHandle:
    """The control interface of a running switch.

    Names and meanings are those of BMv2's runtime interface, if it has the call. Calls that begin with
    `client` are for clients that choose the ids of members and groups, as P4Runtime's do; they work on the
    same objects. Every call is atomic and may come from any thread. A refused call raises a `ControlError`
    and changes nothing; a call to a switch without a program raises `ConfigError`. `values` has the types.
    """

    @property
    def device_id(self) -> int:
        """P4Runtime's device id."""
    @property
    def cpu_port(self) -> int | None:
        """Port of packet-ins and packet-outs."""
    @property
    def program(self) -> Program | None:
        """The running program. None without a program, or if another handle has loaded it."""
    def load_program(self, program: Program) -> None:
        """Replaces the program and its state; packets inside are dropped and counted. The clock continues,
        and multicast groups and clone sessions stay, as in BMv2.

        Raises `ConfigError` if this switch cannot run the new program; the old one then continues.
        """
    def check_program(self, program: Program) -> None:
        """Raises the exception that `load_program` would raise, and changes nothing."""
    def pause(self) -> None:
        """Makes run loops wait until `resume`. Returns once no packet is being processed. Calls nest."""
    def resume(self) -> None:
        """Undoes one `pause`."""
    def mt_add_entry(
        self, table: str, key: Sequence[MatchParam], action: str, data: Sequence[bytes], priority: int = 0
    ) -> int:
        """Adds an entry to a direct table and returns its handle. The lowest priority number wins."""
    def mt_modify_entry(self, table: str, handle: int, action: str, data: Sequence[bytes]) -> None: ...
    def mt_delete_entry(self, table: str, handle: int) -> None:
        """Deletes an entry of any table."""
    def mt_set_default_action(self, table: str, action: str, data: Sequence[bytes]) -> None:
        """Sets the action of a direct table for misses."""
    def mt_reset_default_entry(self, table: str) -> None:
        """Resets the default entry to the program's."""
    def mt_get_entries(self, table: str) -> list[Entry]:
        """Returns the entries in order of handle."""
    def mt_get_default_entry(self, table: str) -> EntryAction | None:
        """Returns the default entry; None if it is not set."""
    def mt_indirect_add_entry(
        self, table: str, key: Sequence[MatchParam], member: int, priority: int = 0
    ) -> int:
        """Adds an entry that refers to a member and returns its handle."""
    def mt_indirect_modify_entry(self, table: str, handle: int, member: int) -> None:
        """Makes an entry refer to a member."""
    def mt_indirect_ws_add_entry(
        self, table: str, key: Sequence[MatchParam], group: int, priority: int = 0
    ) -> int:
        """Adds an entry that refers to a group and returns its handle."""
    def mt_indirect_ws_modify_entry(self, table: str, handle: int, group: int) -> None:
        """Makes an entry refer to a group."""
    def client_add_entry(
        self, table: str, key: Sequence[MatchParam], priority: int, action: ClientAction, note: bytes
    ) -> int:
        """Adds an entry to any table and returns its handle. `note` is opaque and stored with it."""
    def client_modify_entry(self, table: str, handle: int, action: ClientAction | None, note: bytes) -> None:
        """Replaces the opaque bytes of an entry and, if given, its action."""
    def client_entries(self, table: str) -> list[ClientEntry]:
        """Returns the entries in order of their rows, including those added by other calls."""
    def client_entries_page(self, table: str, first: int, count: int) -> tuple[list[ClientEntry], int | None]:
        """Returns at most `count` entries from the row `first`, and the row to continue from, None at the
        end. An entry that exists throughout is in exactly one page, whatever else is added or deleted."""
    def client_entry_from_key(
        self, table: str, key: Sequence[MatchParam], priority: int
    ) -> ClientEntry | None:
        """Returns the entry with this key and, if the table has priorities, this priority."""
    def client_set_default(self, table: str, action: tuple[str, Sequence[bytes]] | None, note: bytes) -> None:
        """Sets the action of a direct table for misses, with its data; None stands for the program's."""
    def client_default(self, table: str) -> ClientDefault:
        """Returns the default entry of any table."""
    def client_add_member(self, profile: str, member: int, action: str, data: Sequence[bytes]) -> None:
        """Adds a member with an id. If a member that was added by handle has this id as a generated one, that
        member gets another."""
    def client_modify_member(self, profile: str, member: int, action: str, data: Sequence[bytes]) -> None:
        """Replaces a member's action in all groups and entries with this member."""
    def client_delete_member(self, profile: str, member: int) -> None:
        """Deletes a member that no entry and no group uses."""
    def client_add_group(self, profile: str, group: int, members: Sequence[Share], note: bytes) -> None:
        """Adds a group with an id and opaque bytes. A member of weight w has w places in the selector."""
    def client_modify_group(
        self, profile: str, group: int, members: Sequence[Share], note: bytes
    ) -> None: ...
    def client_delete_group(self, profile: str, group: int) -> None:
        """Deletes a group that no entry uses."""
    def client_members(self, profile: str, member: int | None = None) -> list[ClientMember]:
        """Returns the members by ascending id, or the one with the given id, if any. A member that was added
        by handle has a generated id: 2^32-1 minus its handle, or the next lower unused one."""
    def client_groups(self, profile: str, group: int | None = None) -> list[ClientGroup]:
        """Returns the groups by ascending id, or the one with the given id, if any. Generated ids are as for
        members."""
    def begin_batch(self) -> None:
        """Starts recording changes by calls. Calls of other threads wait until `end_batch`. Pause the switch
        first: otherwise changes by packets may be undone with those by calls.

        Not recorded: `reset_state`, CRC parameters, sweeps, and the `mc_` and `mirroring_` calls except
        `mc_set_group`, `mc_delete_group`, `mirroring_session_add` and `mirroring_session_delete`.
        """
    def savepoint(self) -> Savepoint:
        """Returns a point in the batch for `roll_back`."""
    def roll_back(self, savepoint: Savepoint) -> None:
        """Undoes the changes since a savepoint: restores handles, the order of rows, counts, meters and
        ages."""
    def end_batch(self) -> None:
        """Ends the batch, and keeps the changes that were not undone."""
    def mt_act_prof_add_member(self, profile: str, action: str, data: Sequence[bytes]) -> int:
        """Adds a member and returns its handle."""
    def mt_act_prof_modify_member(
        self, profile: str, member: int, action: str, data: Sequence[bytes]
    ) -> None: ...
    def mt_act_prof_delete_member(self, profile: str, member: int) -> None:
        """Deletes an unused member."""
    def mt_act_prof_create_group(self, profile: str) -> int:
        """Creates an empty group and returns its handle."""
    def mt_act_prof_delete_group(self, profile: str, group: int) -> None:
        """Deletes an unused group."""
    def mt_act_prof_add_member_to_group(
        self, profile: str, member: int, group: int, watch_port: int | None = None
    ) -> None:
        """Adds a member to a group. It is not selected while `watch_port` is down or not attached."""
    def mt_act_prof_watch_port(self, profile: str, member: int, group: int, watch_port: int | None) -> None:
        """Sets the port that a member of a group watches; None for no port."""
    def mt_act_prof_remove_member_from_group(self, profile: str, member: int, group: int) -> None: ...
    def mt_read_counters(self, table: str, handle: int) -> CounterCell:
        """Returns the direct counter of an entry."""
    def mt_write_counters(self, table: str, handle: int, bytes: int, packets: int) -> None: ...
    def mt_read_default_counters(self, table: str) -> CounterCell:
        """Returns the direct counter of the default entry: its number of misses. BMv2 does not count them."""
    def mt_write_default_counters(self, table: str, bytes: int, packets: int) -> None: ...
    def mt_get_meter_rates(self, table: str, handle: int) -> list[MeterRate]:
        """Returns the rates of an entry's direct meter, lowest first; empty if never set."""
    def mt_set_meter_rates(self, table: str, handle: int, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of an entry's direct meter, lowest first; no rates disable it."""
    def mt_get_default_meter_rates(self, table: str) -> list[MeterRate]:
        """Returns the rates of the default entry's direct meter; empty if never set."""
    def mt_set_default_meter_rates(self, table: str, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of the default entry's direct meter. BMv2 does not meter misses."""
    def mt_set_entry_ttl(self, table: str, handle: int, ttl_ns: int) -> None:
        """Sets the idle timeout of an entry, in the switch's time; 0 means none."""
    def mt_get_entry_idle(self, table: str, handle: int) -> int:
        """Returns the time in nanoseconds since an entry's last hit, or since its timeout was first set."""
    def mt_sweep_entries(self, table: str) -> list[int]:
        """Returns the handles of entries without a hit during their timeout, again after each further one."""
    def take_digests(self) -> list[tuple[str, bytes]]:
        """Returns the messages of `digest()` since the last call: name of the learn list, and its fields.

        Each field is padded to whole bytes. At most 1024 messages are queued; older ones are dropped.
        """
    def meter_get_rates(self, meter: str, index: int) -> list[MeterRate]:
        """Returns the rates of one cell of an indirect meter, lowest first; empty if never set."""
    def meter_get_rates_range(self, meter: str, start: int, end: int) -> list[list[MeterRate]]:
        """Returns the rates of cells `start` to `end` - 1 of an indirect meter; at least one."""
    def meter_set_rates(self, meter: str, index: int, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of one cell of an indirect meter; no rates disable it."""
    def meter_array_set_rates(self, meter: str, rates: Sequence[MeterRate]) -> None: ...
    def parse_vset_get(self, vset: str) -> list[bytes]:
        """Returns the members of a parser value set in order: their fields side by side, without padding."""
    def parse_vset_add(self, vset: str, value: bytes) -> None: ...
    def parse_vset_remove(self, vset: str, value: bytes) -> None: ...
    def parse_vset_set(self, vset: str, values: Sequence[bytes]) -> None: ...
    def parse_vset_clear(self, vset: str) -> None: ...
    def read_counters(self, counter: str, index: int) -> CounterCell: ...
    def read_counters_all(self, counter: str) -> list[CounterCell]:
        """Returns every cell of an indirect counter, from one instant."""
    def read_counters_range(self, counter: str, start: int, end: int) -> list[CounterCell]:
        """Returns the cells `start` to `end` - 1 of an indirect counter; at least one."""
    def write_counter_array(self, counter: str, bytes: int, packets: int) -> None: ...
    def write_counters(self, counter: str, index: int, bytes: int, packets: int) -> None: ...
    def register_read(self, register: str, index: int) -> bytes:
        """Returns a cell, big-endian, in as many whole bytes as its width needs."""
    def register_read_all(self, register: str) -> list[bytes]:
        """Returns every cell, from one instant."""
    def register_read_range(self, register: str, start: int, end: int) -> bytes:
        """Returns the concatenated cells `start` to `end` - 1, each big-endian, in as many whole bytes as its
        width needs; at least one cell."""
    def register_write(self, register: str, index: int, value: bytes) -> None: ...
    def mc_set_group(self, group: int, replicas: Sequence[Replica], note: bytes = ...) -> None:
        """Creates or replaces a whole multicast group: copies in the given order, with opaque bytes that
        `mc_groups` returns."""
    def mc_groups(self, group: int | None = None) -> list[McCopies]:
        """Returns the multicast groups by ascending id, or the one with the given id, if any."""
    def mirroring_sessions(
        self, session: int | None = None
    ) -> list[tuple[int, int | None, int | None, int, int]]:
        """Returns the fields of `values.Session` for each clone session by ascending id, or for the one with
        the given id, if any."""
    def mc_delete_group(self, group: int) -> None: ...
    def mirroring_session_add(
        self,
        session: int,
        egress_port: int | None,
        mgid: int | None,
        class_of_service: int = 0,
        packet_length_bytes: int = 0,
    ) -> None:
        """Adds or replaces a clone session: copies to a port, to a group, or to both.

        Copies use the queue `class_of_service`, and are cut to `packet_length_bytes` (0: not cut). BMv2's
        sessions have neither.
        """
    def mirroring_session_delete(self, session: int) -> None: ...
    def mt_get_entry(self, table: str, handle: int) -> Entry: ...
    def mt_get_entry_from_key(self, table: str, key: Sequence[MatchParam], priority: int = 0) -> Entry | None:
        """Returns the entry with exactly this key (and priority, if the table has priorities), if any."""
    def mt_get_entry_life(self, table: str, handle: int) -> tuple[int, int]:
        """Returns the idle timeout of an entry (0: none) and its time since the last hit, in nanoseconds."""
    def mt_get_num_entries(self, table: str) -> int:
        """Returns the number of entries, without the default entry."""
    def mt_clear_entries(self, table: str, reset_default: bool) -> None:
        """Deletes every entry that is not constant; with `reset_default` also resets the default entry."""
    def mt_indirect_set_default_member(self, table: str, member: int) -> None:
        """Makes a member the default entry."""
    def mt_indirect_ws_set_default_group(self, table: str, group: int) -> None:
        """Makes a group the default entry."""
    def mt_reset_counters(self, table: str) -> None: ...
    def mt_act_prof_get_members(self, profile: str) -> list[Member]:
        """Returns the members by handle."""
    def mt_act_prof_get_groups(self, profile: str) -> list[Group]:
        """Returns the groups by handle."""
    def reset_counters(self, counter: str) -> None: ...
    def register_write_range(self, register: str, start: int, end: int, value: bytes) -> None:
        """Writes the cells `start` to `end` - 1."""
    def register_reset(self, register: str) -> None: ...
    def set_crc16_custom_parameters(self, calculation: str, parameters: CrcParameters) -> None:
        """Sets a calculation of type `crc16_custom`; numbers of 16 bits."""
    def set_crc32_custom_parameters(self, calculation: str, parameters: CrcParameters) -> None:
        """Sets a calculation of type `crc32_custom`; numbers of 32 bits."""
    def reset_state(self) -> None:
        """Resets tables, counters, meters, registers and value sets to the program's initial state, and
        deletes multicast groups. Clone sessions, queue settings, CRC parameters and packets inside stay, as
        in BMv2."""
    def mc_mgrp_create(self, group: int) -> None:
        """Creates an empty multicast group."""
    def mc_mgrp_destroy(self, group: int) -> None:
        """Destroys a multicast group; its nodes stay."""
    def mc_node_create(self, rid: int, ports: Sequence[int], lags: Sequence[int]) -> int:
        """Creates a node: a copy with this `egress_rid` to each port, and to one port of each LAG."""
    def mc_node_update(self, node: int, ports: Sequence[int], lags: Sequence[int]) -> None: ...
    def mc_node_associate(self, group: int, node: int) -> None:
        """Adds a node at the end of a group."""
    def mc_node_dissociate(self, group: int, node: int) -> None:
        """Removes a node from a group."""
    def mc_node_destroy(self, node: int) -> None:
        """Removes a node from its group, and destroys it."""
    def mc_set_lag_membership(self, lag: int, ports: Sequence[int]) -> None: ...
    def mc_get_entries(self) -> tuple[list[McGroup], list[McNode], list[McLag]]:
        """Returns all groups, nodes and LAGs."""
    def mirroring_session_get(self, session: int) -> tuple[int | None, int | None] | None:
        """Returns the port and multicast group of a clone session; `None` if it is not configured."""
    def set_queue_depth(self, packets: int, port: int | None = None, priority: int | None = None) -> None:
        """Sets the capacity in packets of one queue, of each queue of a port, or of every queue."""
    def set_queue_rate(self, rate_pps: int, port: int | None = None, priority: int | None = None) -> None:
        """Sets the rate of one queue, of each queue of a port, or of every queue, in packets per second; 0
        means no limit. It applies to each queue separately, in addition to the rate of the port's link.
        """
    @property
    def time_elapsed_us(self) -> int:
        """The switch's clock in microseconds."""
    @property
    def time_since_epoch_us(self) -> int:
        """The computer's clock in microseconds since the epoch; in virtual time, the switch's clock."""
    def port_info(self) -> list[PortInfo]:
        """Returns the attached ports by number. In virtual time they are up unless `port_set_link` sets them
        down."""
    def port_add(self, interface: str, port: int) -> None:
        """Attaches a port. Raises `ConfigError` if it is attached already, or if a topology fixes the ports.
        In virtual time the interface's name is ignored, and the port has no rate limit.
        """
    def port_set_link(self, port: int, is_up: bool) -> None:
        """Sets in virtual time whether a port's link is up, for members of action profiles that watch it;
        frames pass in any case. Raises `ConfigError` for a port that is not attached, and on a live switch,
        whose interfaces determine the link state.
        """
    def port_remove(self, port: int) -> None:
        """Detaches a port; frames from it and to it are dropped and counted."""
    def packet_out(self, packet: bytes) -> None:
        """Sends a packet into the switch on the CPU port, now. It begins with the packet-out header."""
    def take_packets_in(self, timeout_ms: int) -> list[bytes]:
        """Takes the packets that left on the CPU port, with their packet-in headers. If there are none, waits
        for one."""
    @property
    def packets_in_lost(self) -> int:
        """Number of packets that left on the CPU port while 4096 were already queued."""
    def queue_bytes(self, port: int) -> int:
        """Returns the bytes waiting in all queues of a port."""
    def queue_packets(self, port: int) -> int:
        """Returns the packets waiting in all queues of a port."""
    def stats(self) -> SwitchStats: ...
    def port_stats(self, port: int) -> PortStats: ...
    def record_hops(self, filter: str) -> None:
        """Starts recording the events of packets by hop, and discards an earlier recording. `filter` is the
        JSON of a `hops.HopFilter`, which `hops.record` writes. Raises `ConfigError`."""
    def take_hops(self) -> dict[str, object] | None:
        """Ends the recording, and returns it as columns for `hops.take`. None if nothing was being
        recorded."""
    def follow(self, tag: int) -> None:
        """Starts recording the journeys of frames that arrive with this tag, and of their copies.

        Loading another program ends this.
        """
    def take_journey(self) -> str:
        """Takes the record since `follow`: the JSON of a `Journey`, which `json_documents.take_journey`
        reads."""
    def stop_following(self) -> None: ...
    def take_log(self) -> list[str]:
        """Takes the messages of the program's `log_msg` since the last call."""

@final
class Port:
    """A port and its link. Without `rate_bps` it sends without delay; without limits its queues never
    overflow.

    `overhead_bytes` is added to each frame on the wire: 24 for Ethernet's preamble, SFD, FCS and gap.
    `quanta_bytes` are the quanta, by priority, of queues that share the link in deficit round robin; other
    queues have strict priority.
    """

    def __new__(
        cls,
        port: int,
        *,
        rate_bps: int | None = None,
        overhead_bytes: int = 0,
        queue_limit_packets: int | None = None,
        queue_limit_bytes: int | None = None,
        quanta_bytes: dict[int, int] | None = None,
    ) -> Port: ...
    @property
    def port(self) -> int: ...

@final
class Switch(SwitchHandle):
    """A standalone switch with a virtual clock that its user advances.

    Without a program it waits for `load_program`, or for a P4Runtime client to push one. Without `ports` it
    has all of v1model's, without rate limits. `cpu_port` is 510 by default. `tick_ps` is one tick of the
    timestamps that the program sees (BMv2: 1 us, 1_000_000). `gate_register` names the register with the tick
    before which a port sends nothing, `class_gate_register` one with a cell for each queue (port << 3 |
    priority), and `timer_register` one with the tick at which the program runs without a packet. Raises
    `ConfigError`.
    """

    def __new__(
        cls,
        program: Program | None = None,
        *,
        device_id: int = 1,
        ports: Sequence[Port] | None = None,
        tick_ps: int = 1_000,
        cpu_port: int | None = ...,
        drop_port: int = 511,
        gate_register: str | None = None,
        class_gate_register: str | None = None,
        timer_register: str | None = None,
        seed: int = 0,
        clock_start: int = 0,
        priorities: int = 1,
        recirculation_delay_ps: int = 1_000_000,
    ) -> Switch: ...
    @property
    def now_ps(self) -> int:
        """The clock."""
    def inject(self, port: int, frame: bytes, at_ps: int | None = None, tag: int = 0) -> None:
        """Schedules the arrival of a frame on a port, now or at a later time, with a tag for `follow`.

        Raises `ClockError` for a time in the past.
        """
    def advance_to(self, at_ps: int) -> list[tuple[int, int, bytes]]:
        """Processes all events up to and including `at_ps`. Returns the departures as (time, port, frame).

        The time is that of the first bit. Departures on the CPU port are included, and also queued for
        `take_packets_in`.
        """
    @property
    def next_event_ps(self) -> int | None:
        """Time of the next event; None if there are no more."""

@final
class LiveSwitch(SwitchHandle):
    """One switch in real time. A separate thread, which never holds the GIL, moves its packets. Only
    available on Linux.

    Ports are one of: `interfaces`, network interfaces by number and name (needs root or CAP_NET_RAW;
    `port_add` can add more); `packet_in`, a nanomsg address for all of v1model's ports; `files`, a number and
    a NAME for each port, which reads NAME_in.pcap and writes NAME_out.pcap, files or FIFOs, from `wait_s`
    seconds after `start`. All ports have the same queue limits and, unless `port_rates_bps` has them, the
    same rate; BMv2's are an unlimited rate and 64 packets. `capture` is a folder for pcap files of each
    interface. Timestamps are in microseconds by default, as BMv2's.

    Ports are opened by the constructor, but no frame is received before `start`. Raises `ConfigError`.
    """

    def __new__(
        cls,
        program: Program | None = None,
        *,
        interfaces: Sequence[tuple[int, str]] | None = None,
        packet_in: str | None = None,
        files: Sequence[tuple[int, str]] | None = None,
        wait_s: float = 0.0,
        capture: PathLike[str] | str | None = None,
        device_id: int = 0,
        tick_ps: int = 1_000_000,
        cpu_port: int | None = None,
        drop_port: int = 511,
        gate_register: str | None = None,
        class_gate_register: str | None = None,
        timer_register: str | None = None,
        seed: int = 0,
        priorities: int = 1,
        recirculation_delay_ps: int = 10_000_000,
        rate_bps: int | None = None,
        overhead_bytes: int = 0,
        queue_limit_packets: int | None = 64,
        queue_limit_bytes: int | None = None,
        port_rates_bps: dict[int, int] | None = None,
        quanta_bytes: dict[int, int] | None = None,
        follows_all: bool = False,
    ) -> LiveSwitch: ...
    def start(self) -> None:
        """Starts receiving frames. May be called once."""
    def stop(self) -> None:
        """Ends its thread, and writes pending output to files. May be called again."""
    @property
    def has_ended(self) -> bool:
        """Whether its thread has ended, by `stop` or by itself."""
    def take_events(self, timeout_ms: int) -> list[str]:
        """Takes messages for the user, such as interfaces that went down. If there are none, waits for
        one."""
    def io_counts(self) -> LiveCounts:
        """Returns the recent counts of frames lost or repaired outside the switch, and the counts of its
        loop."""

@final
class Twin:
    """Switches, links and hosts under one clock. `spec` is the JSON of a `json_types.FabricSpec`;
    `json_documents.make_twin` writes it.

    The same program, spec, frames, and control calls at the same times give the same report, byte for byte.
    Raises `ConfigError` with the place in the spec.
    """

    def __new__(cls, program: Program, spec: str) -> Twin: ...
    @property
    def switches(self) -> list[str]:
        """Names of switches, in the order of the spec."""
    @property
    def hosts(self) -> list[str]:
        """Names of hosts, in the order of the spec; `feed` takes their positions as numbers."""
    def switch(self, name: str) -> SwitchHandle:
        """Returns a switch, for control or for a P4Runtime server. Raises `NoSuchObjectError`."""
    def feed(
        self,
        hosts: str | Buffer,
        times_ps: Buffer,
        offsets: Buffer,
        frames: Buffer,
        lengths: Buffer | None = None,
    ) -> int:
        """Accepts frames for hosts to send, as flat arrays in order of time. Returns the number accepted.

        `hosts` is one name for all, or a uint32 array of host numbers; `times_ps` is a uint64 array. Frame i
        is frames[offsets[i]:offsets[i + 1]] of the uint8 array `frames`; `offsets` is uint64, with one
        element more than there are frames. `lengths` (uint32) are lengths on the wire: shorter frames are
        padded with zeros.

        At most 2**20 frames are queued; if not all were accepted, run before you feed the rest. Raises
        `ClockError` for a frame out of order and `InvalidValueError` for arrays that do not match; the frames
        before the one in the message have been accepted.
        """
    @staticmethod
    def tag_of(at_ps: int, frame: bytes, length: int | None = None) -> int:
        """Returns the tag of a frame that is fed for this time, for `SwitchHandle.follow`.

        The tag consists of the frame's time and class; frames with the same time and class share it.
        """
    @property
    def pending(self) -> int:
        """Number of frames fed and not yet sent."""
    @property
    def now_ps(self) -> int:
        """Time before which all events have been processed."""
    @property
    def events(self) -> int:
        """Number of events processed so far."""
    @property
    def p4_passes(self) -> int:
        """Number of runs of parser and ingress so far, over all switches."""
    def run_until(self, at_ps: int) -> None:
        """Processes all events before `at_ps`. Ctrl-C stops it between two slices."""
    def run_to_idle(self, limit_ps: int = ...) -> bool:
        """Processes events until none are left (True) or until `limit_ps` (False)."""
    def listen(self, host: str, on: bool = True) -> None:
        """Starts or stops keeping every frame that arrives at a host, for `take_heard`."""
    def run_until_heard(self, limit_ps: int = ...) -> bool:
        """Processes events until a frame has arrived at a host in `listen` (True).

        The clock is then at this instant, so that an answer can be sent at once. Returns False, with the
        clock at `limit_ps`, if no frame arrives before.
        """
    def take_heard(self) -> list[tuple[int, str, bytes]]:
        """Takes the frames that arrived at hosts in `listen`: time in picoseconds, host, frame without
        FCS."""
    @property
    def heard_lost(self) -> int:
        """Number of frames that arrived at hosts in `listen` while 65,536 were already queued."""
    def start_flow(
        self, source: str, destination: str, size: int, *, at_ps: int | None = None, tcp: str | None = None
    ) -> int:
        """Starts a TCP flow of `size` bytes from one host to another. Returns its number in the report's
        `flows`.

        `tcp` is the JSON of a `json_types.TcpSpec`; the default is New Reno. It starts now or at `at_ps`.
        Raises `ConfigError`.
        """
    def start_workload(self, spec: str) -> None:
        """Starts applications whose transfers are TCP connections between the hosts. Once per twin.

        `spec` is the JSON of a `json_types.WorkloadSpec`; docs/models/mapreduce.md explains it. It is checked
        completely before anything starts. Raises `ConfigError` with place, value and reason.
        """
    def run_workload(self, limit_ps: int = ...) -> bool:
        """Processes events until every foreground application has finished (True).

        The clock is then at this instant. Returns False at `limit_ps`, if no events are left, and if no
        workload was started. Ctrl-C stops it between two slices.
        """
    def record_hops(self, filter: str) -> None:
        """Starts recording the events of packets by hop, as `SwitchHandle.record_hops` does."""
    def take_hops(self) -> dict[str, object] | None:
        """Ends the recording, and returns it as `SwitchHandle.take_hops` does."""
    def flow_report(self, number: int) -> str:
        """Returns the state of one flow of `start_flow`: the JSON of a `FlowReport`, which
        `json_documents.flow_report` reads. Faster than `report`, which covers the whole fabric. Raises
        `ConfigError` if there is no flow with this number."""
    def report(self) -> str:
        """Returns a report of the run so far: the JSON of a `Report`, for `json_documents.twin_report`."""

@final
class Traffic:
    """Frames sent from hosts' interfaces at given times, in real time, and the arrivals at these hosts. Only
    available on Linux.

    A host is the path of its network namespace (None: the caller's), the name of its interface there, and the
    IP addresses whose packets are delivered there. It needs root, or CAP_NET_RAW and CAP_SYS_ADMIN. The run
    is over when every packet has arrived, or none has for `settle_ms`. At most `memory_limit` bytes of frames
    are kept. Raises `ConfigError` for a host that cannot be used.
    """

    def __new__(
        cls,
        hosts: Sequence[tuple[str | None, str, Sequence[str]]],
        *,
        settle_ms: int = 1000,
        memory_limit: int = ...,
    ) -> Traffic: ...
    def add(self, hosts: Buffer, times_ns: Buffer, offsets: Buffer, frames: Buffer, lengths: Buffer) -> None:
        """Adds frames in order of time, as flat arrays like those of `Twin.feed`; times are in nanoseconds
        since the start. Raises `InvalidValueError` with the number of the first invalid frame, counted from 0
        over all added frames; the frames before it have been accepted."""
    @property
    def passed(self) -> int:
        """Number of frames whose time has passed."""
    def run(self, timeout_ms: int) -> bool:
        """Runs for `timeout_ms` without the GIL; the clock starts with the first call. True at the end.

        Call it again at once: frames that are due between two calls are late. Raises `ConfigError` if a
        host's interface fails.
        """
    def report(self, late_after_ns: int) -> str:
        """Returns the JSON of a `TrafficReport`, which `json_documents.traffic_report` reads. Ends the
        object: every later call raises `ConfigError`."""
