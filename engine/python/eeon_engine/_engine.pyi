"""The extension: the engine itself, in Rust. Times are picoseconds of virtual time, sizes are bytes without
FCS.

All classes may be used from any thread. Calls into the engine release the GIL; a control call waits for the
slice of the run loop that is under way, a few milliseconds at most.
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
"""What a `json_types.TcpSpec` may have as `algorithm`."""

SOURCE_DIGEST: str
"""SHA-256, in hexadecimal, over the Rust sources that this extension was built from."""

def parse_data_rate(text: str) -> int:
    """Returns the bits per second of a rate with its unit, such as 10Gbps. Raises `ConfigError`."""

def check_workload(spec: str, hosts: Sequence[tuple[str, int, int]]) -> None:
    """Checks a workload, the JSON of a `WorkloadSpec`, against hosts: their names, the rates of their links
    in bits per second, and the bytes that these add to a frame. Raises `ConfigError` with the place in it."""

def parse_size(text: str) -> int:
    """Returns the bytes of a size with its unit, such as 300KB (300 000) or 64KiB. Raises `ConfigError`."""

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
    """Returns when each transfer ends, (transfer, picoseconds) by number, on hosts around one switch that
    never blocks; and how many flows were given no rate when they arrived.

    Without packets: each flow sends at the rate that `scheduler` (fair, fca, sebf, scf, dclas) gives it.
    A flow is (picoseconds of its arrival, transfer, sending host, receiving host, bits). `order` (total,
    remaining), `work_conserving` and `preempt` are for fca. Events happen at multiples of `step_ps`; with
    `only_whole_transfers` rates are decided again when a transfer ends, not each flow. `progress`
    hears from time to time how many flows have ended. Raises `InvalidValueError`, and what `progress`
    raises."""

@final
class Program:
    """A compiled P4 program: immutable, shared by the switches that run it.

    `json` is the output of p4c-bm2-ss. A program loaded `for_tracing` does the same to packets, slower, and
    lets `SwitchHandle.take_journey` say where in the source each event belongs. Raises `ProgramError` with
    the place in the JSON when the engine cannot run it.
    """

    def __new__(cls, json: bytes, *, for_tracing: bool = False) -> Program: ...
    @property
    def json(self) -> bytes:
        """What it was loaded from."""
    @property
    def digest(self) -> str:
        """SHA-256 of `json`, in hexadecimal."""

class SwitchHandle:
    """A running switch, to be controlled, and its counts.

    Names and meaning are those of BMv2's runtime interface, where it has such a call. Calls that begin with
    `client` are for who names members and groups itself, as P4Runtime's clients do; they work on the same
    objects. Every call is atomic, may come from any thread, and raises a `ControlError` when it is refused,
    in which case nothing has changed, and `ConfigError` when the switch runs no program. `values` has the
    types.
    """

    @property
    def device_id(self) -> int:
        """P4Runtime's device id."""
    @property
    def cpu_port(self) -> int | None:
        """Port of packet-ins and packet-outs."""
    @property
    def program(self) -> Program | None:
        """What it runs. None without a program, or when another handle has loaded it."""
    def load_program(self, program: Program) -> None:
        """Replaces the program and all state; packets inside are dropped and counted. The clock goes on.

        Raises `ConfigError`, and the old program runs on, when this switch cannot run the new one.
        """
    def check_program(self, program: Program) -> None:
        """Raises what `load_program` would raise, and changes nothing."""
    def pause(self) -> None:
        """Makes run loops wait until `resume`, and returns once no packet is being processed. Calls nest."""
    def resume(self) -> None:
        """Takes one `pause` back."""
    def mt_add_entry(
        self, table: str, key: Sequence[MatchParam], action: str, data: Sequence[bytes], priority: int = 0
    ) -> int:
        """Adds an entry to a direct table and returns its handle. The lowest priority number wins."""
    def mt_modify_entry(self, table: str, handle: int, action: str, data: Sequence[bytes]) -> None:
        """Replaces the action of an entry."""
    def mt_delete_entry(self, table: str, handle: int) -> None:
        """Deletes an entry of any table."""
    def mt_set_default_action(self, table: str, action: str, data: Sequence[bytes]) -> None:
        """Sets what a direct table does on a miss."""
    def mt_reset_default_entry(self, table: str) -> None:
        """Sets the default entry back to what the program says."""
    def mt_get_entries(self, table: str) -> list[Entry]:
        """Returns the entries in order of handle."""
    def mt_get_default_entry(self, table: str) -> EntryAction | None:
        """Returns the default entry; None where nothing is set."""
    def mt_indirect_add_entry(
        self, table: str, key: Sequence[MatchParam], member: int, priority: int = 0
    ) -> int:
        """Adds an entry that points at a member and returns its handle."""
    def mt_indirect_modify_entry(self, table: str, handle: int, member: int) -> None:
        """Points an entry at a member."""
    def mt_indirect_ws_add_entry(
        self, table: str, key: Sequence[MatchParam], group: int, priority: int = 0
    ) -> int:
        """Adds an entry that points at a group and returns its handle."""
    def mt_indirect_ws_modify_entry(self, table: str, handle: int, group: int) -> None:
        """Points an entry at a group."""
    def client_add_entry(
        self, table: str, key: Sequence[MatchParam], priority: int, action: ClientAction, note: bytes
    ) -> int:
        """Adds an entry to any table and returns its handle. `note` is opaque and kept with it."""
    def client_modify_entry(self, table: str, handle: int, action: ClientAction | None, note: bytes) -> None:
        """Replaces the opaque bytes of an entry and, where one is given, its action."""
    def client_entries(self, table: str) -> list[ClientEntry]:
        """Returns the entries in order of their rows, those that were added by other calls included."""
    def client_entries_page(self, table: str, first: int, count: int) -> tuple[list[ClientEntry], int | None]:
        """Returns at most `count` entries from the row `first` on, and the row to go on from, None at the
        end. An entry that stays while others come and go is in exactly one of the pages from row 0 on."""
    def client_entry_from_key(
        self, table: str, key: Sequence[MatchParam], priority: int
    ) -> ClientEntry | None:
        """Returns the entry with this key and, where the table has priorities, this priority."""
    def client_set_default(self, table: str, action: tuple[str, Sequence[bytes]] | None, note: bytes) -> None:
        """Sets what a direct table does on a miss: an action with its data; None: what the program says."""
    def client_default(self, table: str) -> ClientDefault:
        """Returns the default entry of any table."""
    def client_add_member(self, profile: str, member: int, action: str, data: Sequence[bytes]) -> None:
        """Adds a member under an id. A member that was added by handle and has that id as its made-up one
        gets another."""
    def client_modify_member(self, profile: str, member: int, action: str, data: Sequence[bytes]) -> None:
        """Replaces a member's action, in every group and entry that it is in."""
    def client_delete_member(self, profile: str, member: int) -> None:
        """Deletes a member that no entry and no group uses."""
    def client_add_group(self, profile: str, group: int, members: Sequence[Share], note: bytes) -> None:
        """Adds a group under an id, with opaque bytes. A member of weight w takes the places of w members in
        the selector."""
    def client_modify_group(self, profile: str, group: int, members: Sequence[Share], note: bytes) -> None:
        """Replaces a group's members and its opaque bytes."""
    def client_delete_group(self, profile: str, group: int) -> None:
        """Deletes a group that no entry uses."""
    def client_members(self, profile: str, member: int | None = None) -> list[ClientMember]:
        """Returns the members by rising id, or the one of that id if there is one. One that was added by
        handle has a made-up id: 2^32-1 less its handle, or the next one below that nobody has."""
    def client_groups(self, profile: str, group: int | None = None) -> list[ClientGroup]:
        """Returns the groups by rising id, or the one of that id if there is one; made-up ids as for
        members."""
    def begin_batch(self) -> None:
        """Begins to write down what calls change. Calls of other threads wait until `end_batch`. Pause the
        switch first: what packets change meanwhile may be taken back with the calls.

        `reset_state`, CRC parameters, sweeps, and the `mc_` and `mirroring_` calls but for `mc_set_group`,
        `mc_delete_group`, `mirroring_session_add` and `mirroring_session_delete` are not written down.
        """
    def savepoint(self) -> Savepoint:
        """Returns a point in the batch to go back to."""
    def roll_back(self, savepoint: Savepoint) -> None:
        """Takes back what was changed since a savepoint: handles, the order of rows, counts, meters, ages are
        as they were."""
    def end_batch(self) -> None:
        """Ends the batch; what was not taken back stays."""
    def mt_act_prof_add_member(self, profile: str, action: str, data: Sequence[bytes]) -> int:
        """Adds a member and returns its handle."""
    def mt_act_prof_modify_member(
        self, profile: str, member: int, action: str, data: Sequence[bytes]
    ) -> None:
        """Replaces a member's action."""
    def mt_act_prof_delete_member(self, profile: str, member: int) -> None:
        """Deletes a member that nothing uses."""
    def mt_act_prof_create_group(self, profile: str) -> int:
        """Creates an empty group and returns its handle."""
    def mt_act_prof_delete_group(self, profile: str, group: int) -> None:
        """Deletes a group that nothing uses."""
    def mt_act_prof_add_member_to_group(
        self, profile: str, member: int, group: int, watch_port: int | None = None
    ) -> None:
        """Adds a member to a group. While `watch_port` is down, or not attached, it is not selected."""
    def mt_act_prof_watch_port(self, profile: str, member: int, group: int, watch_port: int | None) -> None:
        """Lets a member of a group watch another port, or none."""
    def mt_act_prof_remove_member_from_group(self, profile: str, member: int, group: int) -> None:
        """Removes a member from a group."""
    def mt_read_counters(self, table: str, handle: int) -> CounterCell:
        """Returns the direct counter of an entry."""
    def mt_write_counters(self, table: str, handle: int, bytes: int, packets: int) -> None:
        """Sets the direct counter of an entry."""
    def mt_read_default_counters(self, table: str) -> CounterCell:
        """Returns the direct counter of the default entry: misses that ran it. BMv2 does not count them."""
    def mt_write_default_counters(self, table: str, bytes: int, packets: int) -> None:
        """Sets the direct counter of the default entry."""
    def mt_get_meter_rates(self, table: str, handle: int) -> list[MeterRate]:
        """Returns the rates of an entry's direct meter, lowest first; empty if never set."""
    def mt_set_meter_rates(self, table: str, handle: int, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of an entry's direct meter, lowest first; none switches it off."""
    def mt_get_default_meter_rates(self, table: str) -> list[MeterRate]:
        """Returns the rates of the default entry's direct meter; empty if never set."""
    def mt_set_default_meter_rates(self, table: str, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of the default entry's direct meter. BMv2 meters no misses."""
    def mt_set_entry_ttl(self, table: str, handle: int, ttl_ns: int) -> None:
        """Sets the idle time-out of an entry, by the switch's clock; 0 means never."""
    def mt_get_entry_idle(self, table: str, handle: int) -> int:
        """Returns the nanoseconds since an entry was last hit, or since its time-out was first set."""
    def mt_sweep_entries(self, table: str) -> list[int]:
        """Returns handles of entries without a hit during their time-out; each again after another."""
    def take_digests(self) -> list[tuple[str, bytes]]:
        """Returns what `digest()` has sent since the last call: name of the learn list, and its fields.

        Each field is padded to whole bytes. At most 1024 wait; older ones give way.
        """
    def meter_get_rates(self, meter: str, index: int) -> list[MeterRate]:
        """Returns the rates of one cell of an indirect meter, lowest first; empty if never set."""
    def meter_get_rates_range(self, meter: str, start: int, end: int) -> list[list[MeterRate]]:
        """Returns the rates of cells `start` to `end` - 1 of an indirect meter; at least one."""
    def meter_set_rates(self, meter: str, index: int, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of one cell of an indirect meter; none switches it off."""
    def meter_array_set_rates(self, meter: str, rates: Sequence[MeterRate]) -> None:
        """Sets the rates of every cell of an indirect meter."""
    def parse_vset_get(self, vset: str) -> list[bytes]:
        """Returns the members of a parser value set in order: their fields side by side, without padding."""
    def parse_vset_add(self, vset: str, value: bytes) -> None:
        """Adds a member to a parser value set."""
    def parse_vset_remove(self, vset: str, value: bytes) -> None:
        """Removes a member from a parser value set."""
    def parse_vset_set(self, vset: str, values: Sequence[bytes]) -> None:
        """Replaces all values of a parser value set."""
    def parse_vset_clear(self, vset: str) -> None:
        """Empties a parser value set."""
    def read_counters(self, counter: str, index: int) -> CounterCell:
        """Returns a cell of an indirect counter."""
    def read_counters_all(self, counter: str) -> list[CounterCell]:
        """Returns every cell of an indirect counter, at one time."""
    def read_counters_range(self, counter: str, start: int, end: int) -> list[CounterCell]:
        """Returns the cells `start` to `end` - 1 of an indirect counter; at least one."""
    def write_counter_array(self, counter: str, bytes: int, packets: int) -> None:
        """Sets every cell of an indirect counter."""
    def write_counters(self, counter: str, index: int, bytes: int, packets: int) -> None:
        """Sets a cell of an indirect counter."""
    def register_read(self, register: str, index: int) -> bytes:
        """Returns a cell, big-endian, in whole bytes of its width."""
    def register_read_all(self, register: str) -> list[bytes]:
        """Returns every cell, at one time."""
    def register_read_range(self, register: str, start: int, end: int) -> bytes:
        """Returns the cells `start` to `end` - 1 side by side, each big-endian, in whole bytes of its width;
        at least one."""
    def register_write(self, register: str, index: int, value: bytes) -> None:
        """Sets a cell."""
    def mc_set_group(self, group: int, replicas: Sequence[Replica], note: bytes = ...) -> None:
        """Creates or replaces a whole multicast group: copies in the order given, with opaque bytes that
        `mc_groups` gives back."""
    def mc_groups(self, group: int | None = None) -> list[McCopies]:
        """Returns the multicast groups by rising id, or the one of that id if there is one."""
    def mirroring_sessions(
        self, session: int | None = None
    ) -> list[tuple[int, int | None, int | None, int, int]]:
        """Returns the fields of `values.Session` for each clone session by rising id, or for the one of that
        id if there is one."""
    def mc_delete_group(self, group: int) -> None:
        """Deletes a multicast group."""
    def mirroring_session_add(
        self,
        session: int,
        egress_port: int | None,
        mgid: int | None,
        class_of_service: int = 0,
        packet_length_bytes: int = 0,
    ) -> None:
        """Adds a clone session, or replaces it: copies to a port, to a group, or to both.

        Copies wait in the queue `class_of_service`, and at most `packet_length_bytes` of them leave (0: all).
        BMv2's sessions have neither.
        """
    def mirroring_session_delete(self, session: int) -> None:
        """Deletes a clone session."""
    def mt_get_entry(self, table: str, handle: int) -> Entry:
        """Returns one entry."""
    def mt_get_entry_from_key(self, table: str, key: Sequence[MatchParam], priority: int = 0) -> Entry | None:
        """Returns the entry with exactly this key (and priority, where the table has priorities), if any."""
    def mt_get_entry_life(self, table: str, handle: int) -> tuple[int, int]:
        """Returns the idle time-out of an entry (0: never), and how long it has been idle, in nanoseconds."""
    def mt_get_num_entries(self, table: str) -> int:
        """Returns the number of entries, without the default entry."""
    def mt_clear_entries(self, table: str, reset_default: bool) -> None:
        """Deletes every entry that is not constant; with `reset_default` also resets the default entry."""
    def mt_indirect_set_default_member(self, table: str, member: int) -> None:
        """Makes a member the default entry."""
    def mt_indirect_ws_set_default_group(self, table: str, group: int) -> None:
        """Makes a group the default entry."""
    def mt_reset_counters(self, table: str) -> None:
        """Zeroes every direct counter of a table."""
    def mt_act_prof_get_members(self, profile: str) -> list[Member]:
        """Returns the members by handle."""
    def mt_act_prof_get_groups(self, profile: str) -> list[Group]:
        """Returns the groups by handle."""
    def reset_counters(self, counter: str) -> None:
        """Zeroes an indirect counter."""
    def register_write_range(self, register: str, start: int, end: int, value: bytes) -> None:
        """Writes cells `start` up to and without `end`."""
    def register_reset(self, register: str) -> None:
        """Zeroes a register."""
    def set_crc16_custom_parameters(self, calculation: str, parameters: CrcParameters) -> None:
        """Sets a calculation of type `crc16_custom`; numbers of 16 bits."""
    def set_crc32_custom_parameters(self, calculation: str, parameters: CrcParameters) -> None:
        """Sets a calculation of type `crc32_custom`; numbers of 32 bits."""
    def reset_state(self) -> None:
        """Resets tables, counters, meters, registers and value sets to how the program starts them, without
        multicast groups. Clone sessions, queue settings, parameters of CRCs and packets inside stay, as in
        BMv2."""
    def mc_mgrp_create(self, group: int) -> None:
        """Creates an empty multicast group."""
    def mc_mgrp_destroy(self, group: int) -> None:
        """Destroys a multicast group; its nodes stay."""
    def mc_node_create(self, rid: int, ports: Sequence[int], lags: Sequence[int]) -> int:
        """Creates a node: a copy with this `egress_rid` to each port, and to one port of each LAG."""
    def mc_node_update(self, node: int, ports: Sequence[int], lags: Sequence[int]) -> None:
        """Replaces a node's ports and LAGs."""
    def mc_node_associate(self, group: int, node: int) -> None:
        """Puts a node at the end of a group."""
    def mc_node_dissociate(self, group: int, node: int) -> None:
        """Takes a node out of a group."""
    def mc_node_destroy(self, node: int) -> None:
        """Destroys a node, taking it out of its group first."""
    def mc_set_lag_membership(self, lag: int, ports: Sequence[int]) -> None:
        """Sets the ports of a LAG."""
    def mc_get_entries(self) -> tuple[list[McGroup], list[McNode], list[McLag]]:
        """Returns all groups, nodes and LAGs."""
    def mirroring_session_get(self, session: int) -> tuple[int | None, int | None] | None:
        """Returns the port and multicast group of a clone session; `None` when it is not configured."""
    def set_queue_depth(self, packets: int, port: int | None = None, priority: int | None = None) -> None:
        """Sets how many packets one queue, each queue of a port, or every queue may hold."""
    def set_queue_rate(self, rate_pps: int, port: int | None = None, priority: int | None = None) -> None:
        """Sets the rate of one queue, of each queue of a port, or of every queue, in packets per second; 0 is
        no limit. It applies to each queue by itself, besides the rate of the port's link.
        """
    @property
    def time_elapsed_us(self) -> int:
        """What the switch's clock shows, in microseconds."""
    @property
    def time_since_epoch_us(self) -> int:
        """Microseconds since the epoch of the computer's clock; in virtual time, what the switch's clock
        shows.
        """
    def port_info(self) -> list[PortInfo]:
        """Returns the attached ports by number. In virtual time they are up unless `port_set_link` says
        otherwise."""
    def port_add(self, interface: str, port: int) -> None:
        """Attaches a port; `ConfigError` when it is attached already, or fixed by a topology. In virtual time
        the interface's name means nothing and the port has no rate.
        """
    def port_set_link(self, port: int, is_up: bool) -> None:
        """Says in virtual time whether a port's link is up, for members of action profiles that watch it;
        frames pass all the same. `ConfigError` for a port that is not attached, and on a live switch, whose
        interfaces say it themselves.
        """
    def port_remove(self, port: int) -> None:
        """Detaches a port; what arrives from it or is sent to it is dropped and counted."""
    def packet_out(self, packet: bytes) -> None:
        """Sends a packet in on the CPU port, now, with its packet-out header in front."""
    def take_packets_in(self, timeout_ms: int) -> list[bytes]:
        """Takes the packets that left on the CPU port, with their packet-in headers. Without any, waits for
        one."""
    @property
    def packets_in_lost(self) -> int:
        """Packets that left on the CPU port while 4096 waited already."""
    def queue_bytes(self, port: int) -> int:
        """Returns the bytes waiting in all queues of a port."""
    def queue_packets(self, port: int) -> int:
        """Returns the packets waiting in all queues of a port."""
    def stats(self) -> SwitchStats:
        """Returns the counts of the switch."""
    def port_stats(self, port: int) -> PortStats:
        """Returns the counts of one port."""
    def record_hops(self, filter: str) -> None:
        """Records from now on what happens to packets by hop. `filter` is the JSON of a `hops.HopFilter`,
        which `hops.record` writes. What was recorded before is forgotten. Raises `ConfigError`."""
    def take_hops(self) -> dict[str, object] | None:
        """Takes what was recorded, as columns that `hops.take` reads, and records nothing any more. None when
        nothing was recorded."""
    def follow(self, tag: int) -> None:
        """Writes down from now on what happens to frames that arrive with this tag, and to their copies.

        Loading another program ends it.
        """
    def take_journey(self) -> str:
        """Takes what was written down since `follow`: the JSON of a `Journey`, which
        `json_documents.take_journey` reads."""
    def stop_following(self) -> None:
        """Follows nothing any more."""
    def take_log(self) -> list[str]:
        """Takes the messages of the program's `log_msg` since the last call."""

@final
class Port:
    """A port and its link. Without `rate_bps` it sends without delay; without limits its queues never
    overflow.

    `overhead_bytes` is added to each frame's time on the wire: 24 for Ethernet's preamble, FCS and gap.
    `quanta_bytes` are those of queues that share the link in deficit round robin, by priority; other queues
    are strict.
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
    def port(self) -> int:
        """Its number."""

@final
class Switch(SwitchHandle):
    """One switch by itself, with a virtual clock that its user moves.

    Without a program it waits for `load_program`, or for a P4Runtime client to push one. Without `ports` it
    has all of v1model's, without rates. `cpu_port` is 510 unless given; `tick_ps` is one tick of the
    timestamps that the program sees (BMv2: 1 us, 1_000_000); `gate_register` names the register with the tick
    before which a port sends nothing, `class_gate_register` one with a cell for each queue, port << 3 |
    priority, `timer_register` another with the tick at which the program runs without a packet.
    Raises `ConfigError`.
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
        """What the clock shows."""
    def inject(self, port: int, frame: bytes, at_ps: int | None = None, tag: int = 0) -> None:
        """Lets a frame arrive on a port, now or at a later time, with a tag by which it can be followed.

        Raises `ClockError` for the past.
        """
    def advance_to(self, at_ps: int) -> list[tuple[int, int, bytes]]:
        """Lets everything happen up to and including `at_ps`; returns what left, as (time, port, frame).

        The time is that of the first bit. What leaves on the CPU port is listed too, and waits in
        `take_packets_in`.
        """
    @property
    def next_event_ps(self) -> int | None:
        """When something is to happen next; None when nothing is left."""

@final
class LiveSwitch(SwitchHandle):
    """One switch in real time. Its packets are moved by a thread of its own that never holds the GIL.
    Not there on other systems than Linux.

    Ports are one of: `interfaces`, network interfaces by number and name (needs root or CAP_NET_RAW; more can
    be added with `port_add`); `packet_in`, a nanomsg address for all of v1model's ports; `files`, a number
    and a NAME for each port, which reads NAME_in.pcap and writes NAME_out.pcap, files or FIFOs, from `wait_s`
    seconds after `start`. Every port gets the same queue limits and, unless `port_rates_bps` has it, the same
    rate; BMv2's are an unlimited rate and 64 packets.
    `capture` is a folder for pcap files of each interface. Timestamps are microseconds by default, as BMv2's.

    Ports are open when it is made, and no frame is taken before `start`. Raises `ConfigError`.
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
        """Begins to take frames. Once."""
    def stop(self) -> None:
        """Ends its thread, and writes pending output to files. May be called again."""
    @property
    def has_ended(self) -> bool:
        """Whether its thread has ended, by `stop` or by itself."""
    def take_events(self, timeout_ms: int) -> list[str]:
        """Takes what people should know, such as interfaces that went down; without any, waits for one."""
    def io_counts(self) -> LiveCounts:
        """Returns the frames lost or repaired outside the switch, as of a moment ago, and what its loop has
        counted."""

@final
class Twin:
    """Switches, links and hosts under one clock. `spec` is the JSON of a `json_types.FabricSpec`;
    `json_documents.make_twin` writes it.

    The same program, spec, control calls at the same times and frames give the same report, byte for byte.
    Raises `ConfigError` with the place in the spec.
    """

    def __new__(cls, program: Program, spec: str) -> Twin: ...
    @property
    def switches(self) -> list[str]:
        """Names, in the order of the spec."""
    @property
    def hosts(self) -> list[str]:
        """Names, in the order of the spec: the numbers that `feed` takes."""
    def switch(self, name: str) -> SwitchHandle:
        """Returns a switch, to be controlled or served over P4Runtime. Raises `NoSuchObjectError`."""
    def feed(
        self,
        hosts: str | Buffer,
        times_ps: Buffer,
        offsets: Buffer,
        frames: Buffer,
        lengths: Buffer | None = None,
    ) -> int:
        """Takes frames that hosts are to send, as flat arrays in order of time; returns how many were taken.

        `hosts` is one name for all or a uint32 array of host numbers, `times_ps` a uint64 array. Frame i is
        frames[offsets[i]:offsets[i + 1]] of the uint8 array `frames`, `offsets` being uint64 with one item
        more than there are frames. `lengths` (uint32) are lengths on the wire: a shorter frame is filled up
        with zeros.

        At most 2**20 frames wait at a time; with fewer taken than given, run before feeding the rest. Raises
        `ClockError` for a frame out of order and `InvalidValueError` for arrays that do not fit; frames
        before the one that is named have been taken.
        """
    @staticmethod
    def tag_of(at_ps: int, frame: bytes, length: int | None = None) -> int:
        """Returns the tag with which a frame fed for this time travels, for `SwitchHandle.follow`.

        It says when the frame was sent and of which class it is; frames that agree in both share it.
        """
    @property
    def pending(self) -> int:
        """Frames fed and not yet sent."""
    @property
    def now_ps(self) -> int:
        """Everything before this time has happened."""
    @property
    def events(self) -> int:
        """Events handled so far."""
    @property
    def p4_passes(self) -> int:
        """Runs of parser and ingress of all switches so far."""
    def run_until(self, at_ps: int) -> None:
        """Lets everything happen that is due before `at_ps`. Ctrl-C stops it between two slices."""
    def run_to_idle(self, limit_ps: int = ...) -> bool:
        """Lets everything happen until nothing is left (True) or `limit_ps` is reached (False)."""
    def listen(self, host: str, on: bool = True) -> None:
        """Keeps from now on every frame that arrives at a host, for `take_heard`, or no longer."""
    def run_until_heard(self, limit_ps: int = ...) -> bool:
        """Lets everything happen until a frame has arrived at a host that is listened to (True).

        The clock then stands at that instant, so that an answer can leave at once. False when `limit_ps` came
        first; the clock then stands there.
        """
    def take_heard(self) -> list[tuple[int, str, bytes]]:
        """Takes what has arrived at hosts that are listened to: time in picoseconds, host, frame without
        FCS."""
    @property
    def heard_lost(self) -> int:
        """Frames that arrived at hosts that are listened to while 65,536 waited already."""
    def start_flow(
        self, source: str, destination: str, size: int, *, at_ps: int | None = None, tcp: str | None = None
    ) -> int:
        """Starts a flow of `size` bytes from a host to another over TCP; returns its number in the report's
        `flows`.

        `tcp` is the JSON of a `json_types.TcpSpec`, New Reno without. It starts now unless `at_ps` says
        later. Raises `ConfigError`.
        """
    def start_workload(self, spec: str) -> None:
        """Starts applications whose transfers are TCP connections between the hosts, once for a twin.

        `spec` is the JSON of a `json_types.WorkloadSpec`; docs/models/mapreduce.md says what it means. All of
        it is checked before anything starts. Raises `ConfigError` with place, value and reason.
        """
    def run_workload(self, limit_ps: int = ...) -> bool:
        """Lets everything happen until every foreground application has finished (True).

        The clock then stands at that instant. False when `limit_ps` came first, when nothing is left to
        happen, and when no workload has been started. Ctrl-C stops it between two slices.
        """
    def record_hops(self, filter: str) -> None:
        """Records from now on what happens to packets by hop. `filter` is the JSON of a `hops.HopFilter`,
        which `hops.record` writes. What was recorded before is forgotten. Raises `ConfigError`."""
    def take_hops(self) -> dict[str, object] | None:
        """Takes what was recorded, as columns that `hops.take` reads, and records nothing any more. None when
        nothing was recorded."""
    def flow_report(self, number: int) -> str:
        """Returns what has come of one flow of `start_flow` so far: the JSON of a `FlowReport`, which
        `json_documents.flow_report` reads. Cheap, where `report` looks at the whole fabric. Raises
        `ConfigError` when there is none of this number."""
    def report(self) -> str:
        """Returns what happened so far: the JSON of a `Report`, which `json_documents.twin_report` reads."""

@final
class Traffic:
    """Frames that leave hosts' interfaces at their times, in real time, and what arrives at these hosts.
    Not there on other systems than Linux.

    A host is the path of its network namespace (None: the caller's own), the name of its interface there, and
    the IP addresses to which packets are delivered when they arrive there. It needs root or CAP_NET_RAW and
    CAP_SYS_ADMIN. It is over when every packet has arrived, or when nothing has for `settle_ms`. At most
    `memory_limit` bytes of frames are kept. Raises `ConfigError` for a host that cannot be used.
    """

    def __new__(
        cls,
        hosts: Sequence[tuple[str | None, str, Sequence[str]]],
        *,
        settle_ms: int = 1000,
        memory_limit: int = ...,
    ) -> Traffic: ...
    def add(self, hosts: Buffer, times_ns: Buffer, offsets: Buffer, frames: Buffer, lengths: Buffer) -> None:
        """Adds frames in order of time, as the flat arrays of `Twin.feed`; times in nanoseconds since the
        start. Raises `InvalidValueError` with the number of the frame that does not fit, counted from 0 over
        all that were added; those before it have been taken."""
    @property
    def passed(self) -> int:
        """Frames whose time has come so far."""
    def run(self, timeout_ms: int) -> bool:
        """Goes on for so long, without the GIL; the clock starts with the first call. True when it is over.

        Call it again at once: frames that fall due between two calls are late. Raises `ConfigError` when a
        host's interface fails.
        """
    def report(self, late_after_ns: int) -> str:
        """Returns the JSON of a `TrafficReport`, which `json_documents.traffic_report` reads. Ends the
        object: every later call raises `ConfigError`."""
