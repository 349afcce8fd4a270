"""Test cases: a switch with the program loaded (`SwitchTest`), and one with hosts behind its ports
(`FabricTest`).

Every FabricTest ends with two checks of its own: when the switch is drained, both occupancy registers of
every port are zero, and every received packet has exactly one verdict.

Times are nanoseconds on the switch's clock; lengths are frame bytes without FCS.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import ptf
from finsy import P4CloneSessionEntry, P4TableAction, P4TableEntry
from finsy.p4entity import P4Entity
from ptf.base_tests import BaseTest
from ptf.testutils import group, send_packet, test_param_get

from ptf_tests.lib import packets
from ptf_tests.lib.p4rt import Match, P4RuntimeClient, table_entry
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict, received_cell, verdict_cell
from ptf_tests.lib.ports import COPY_PORT, CPU_PORT, DATA_PORTS, NUMBERS, PRIORITIES, WIRE_OVERHEAD_BYTES
from ptf_tests.lib.targets import base as targets
from ptf_tests.lib.targets.base import SwitchOptions

_QUANTUM_NS = 512
"""512 bit times at 1 Gbit/s (IEEE 802.3 annex 31B)."""
_PROBABILITY_ONE = 1 << NUMBERS["type_bits"]["probability_t"]

PLUG_BYTES = 60
"""Length of the frame that `plug` puts on the wire: small, to fit any buffer under test."""
_PLUG_TIMEOUT_SECS = 5.0
_SETTLE_TIMEOUT_SECS = 30.0

TestClass = TypeVar("TestClass", bound="SwitchTest")


def virtual_time_only(cls: type[TestClass]) -> type[TestClass]:
    """Marks a test that compares exact times, or would fill many queues in real time: it is skipped on
    targets whose clock the test does not control."""
    cls.needs_virtual_time = True
    return cls


@dataclass(frozen=True)
class Departure:
    """A frame that left the switch, and the time of its first bit on the wire."""

    at_ns: int
    frame: bytes

    @property
    def ecn(self) -> int:
        """The ECN field with which it left."""
        return packets.ecn_of(self.frame)


class SwitchTest(BaseTest):
    """A switch that runs the program, without entries, and a P4Runtime client that is primary."""

    options = SwitchOptions()
    needs_virtual_time = False
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.dataplane = ptf.dataplane_instance
        self.switch = targets.current()
        if self.needs_virtual_time and not self.switch.virtual_time:
            self.skipTest(f"target {self.switch.name} runs in real time; this case needs virtual time")
        address = self.switch.start(self.options)
        self.addCleanup(self.switch.stop)
        p4info = Path(test_param_get("p4info")).read_text(encoding="utf-8")
        self.client = P4RuntimeClient(address, p4info)
        self.addCleanup(self.client.close)
        self.client.become_primary()
        self.client.set_pipeline(Path(test_param_get("program")).read_bytes())
        self.dataplane.flush()
        self._inserted: set[tuple[object, ...]] = set()

    # --- control plane -------------------------------------------------------------------------------------

    def table_add(
        self, table: str, match: Mapping[str, Match], action: str, params: Mapping[str, int] | None = None
    ) -> None:
        """Inserts a table entry by names, or gives another action to one that this test has inserted."""
        key = (table, *match.items())
        self.client.write(
            "MODIFY" if key in self._inserted else "INSERT", table_entry(table, match, action, params)
        )
        self._inserted.add(key)

    def table_remove(self, table: str, match: Mapping[str, Match]) -> None:
        """Deletes a table entry."""
        self.client.write("DELETE", table_entry(table, match))
        self._inserted.discard((table, *match.items()))

    def set_default(self, table: str, action: str, params: Mapping[str, int]) -> None:
        """Sets a table's default action."""
        chosen = P4TableAction(action, **params)
        self.client.write("MODIFY", P4TableEntry(table, action=chosen, is_default_action=True))

    def clone_session(self, session: int, port: int) -> P4Entity:
        """Inserts a clone session with one replica, and returns it; it is deleted at the end of the test."""
        entity = P4CloneSessionEntry(session, replicas=[(port, 1)])
        self.client.write("INSERT", entity)
        # BMv2 keeps it when a pipeline is set.
        self.addCleanup(self.client.write, "DELETE", entity)
        return entity

    def register(self, name: str, port: int) -> int:
        """Returns the cell of a register for a port."""
        (value,) = self.switch.registers_read(self.client, [(name, port)]).values()
        return value

    def queue_register(self, name: str, port: int, priority: int = 0) -> int:
        """Returns the cell of a register for a port's queue."""
        return self.register(name, port * PRIORITIES + priority)

    # --- data plane ----------------------------------------------------------------------------------------

    def send(self, port: int, *frames: bytes) -> None:
        """Sends frames into `port`, all at the present time of the switch's clock."""
        for frame in frames:
            send_packet(self, port, frame)

    def departures(self, port: int) -> list[Departure]:
        """Returns the frames that have left `port` since the last call, in order."""
        found: list[Departure] = []
        while True:
            polled = self.dataplane.poll(port_number=port, timeout=0)
            if not isinstance(polled, self.dataplane.PollSuccess):
                return found
            at_ns = getattr(polled.time, "ns", None)
            found.append(Departure(int(polled.time * 1e9) if at_ns is None else at_ns, bytes(polled.packet)))

    def assert_frames(self, found: Sequence[Departure], wanted: Sequence[bytes]) -> None:
        """Checks that the frames are exactly `wanted`, in that order."""
        self.assertEqual([departure.frame.hex() for departure in found], [frame.hex() for frame in wanted])

    def assert_silent(self, *ports: int) -> None:
        """Checks that no frame has left these ports (default: any port) since the last check."""
        for port in ports or DATA_PORTS:
            self.assertEqual(self.departures(port), [], f"port {port}")


def cases(
    module: str,
    base: type[SwitchTest],
    check: Callable[..., None],
    rows: Mapping[str, tuple[object, ...]],
    *groups: str,
) -> dict[str, type[SwitchTest]]:
    """Returns a case for each row, by its name: `check`, a method of `base`, called with the row's values.

    The result is for the `globals()` of `module`, where ptf finds the cases.
    """

    def case(name: str, row: tuple[object, ...]) -> type[SwitchTest]:
        members = {"__module__": module, "runTest": lambda self: check(self, *row)}
        made = type(name, (base,), members)
        return group(*groups)(made) if groups else made

    return {name: case(name, row) for name, row in rows.items()}


class FabricTest(SwitchTest):
    """A switch with one host behind each data port, reachable over IPv4 and IPv6, with every feature off.

    By convention, packets arrive at port 1 and leave at port 2.
    """

    def setUp(self) -> None:
        super().setUp()
        self.client.write("INSERT", *self.addresses(), *self.routes())
        # Setting the pipeline has cleared the counters.
        self._base: dict[str, Counter[tuple[int, ...]]] = {"received": Counter(), "verdicts": Counter()}
        self._frames_sent = 0

    def tearDown(self) -> None:
        try:
            if hasattr(self, "client"):
                self.drain()
                self.assert_empty()
                self.assert_everything_is_accounted_for()
        finally:
            super().tearDown()

    def addresses(self) -> Iterable[P4Entity]:
        """Yields the entries by which the switch accepts frames for its own address at each port."""
        for port in DATA_PORTS:
            match = {"port": port, "dst_mac": packets.mac_int(packets.switch_mac(port))}
            yield table_entry("l3_admit", match, "admit_to_l3")

    def routes(self) -> Iterable[P4Entity]:
        """Yields the entries that make hosts reachable."""
        for port in DATA_PORTS:
            for table, prefix in packets.networks(port).items():
                yield table_entry(table, {"dst": prefix}, "forward", self.next_hop(port))

    def next_hop(self, port: int) -> dict[str, int]:
        """Returns the parameters of `forward` for the host behind `port`."""
        return {
            "port": port,
            "src_mac": packets.mac_int(packets.switch_mac(port)),
            "dst_mac": packets.mac_int(packets.host_mac(port)),
        }

    def send(self, port: int, *frames: bytes) -> None:
        self._frames_sent += len(frames)
        super().send(port, *frames)

    # --- time ----------------------------------------------------------------------------------------------

    def wire_ns(self, frame_bytes: int) -> int:
        """Returns the time for which a frame occupies a port's wire, in nanoseconds, including overhead."""
        return (frame_bytes + WIRE_OVERHEAD_BYTES) * 8 * 1_000_000_000 // self.options.port_rate_bps

    def at(self, time_ns: int) -> None:
        """Advances the clock up to and including `time_ns`."""
        self.assertGreaterEqual(time_ns, self.switch.now_ns, "the test asks for a time that has gone by")
        self.switch.advance(ns=time_ns - self.switch.now_ns)

    def packet_out(self, port: int, frame: bytes) -> None:
        """Sends `frame` out of `port` over the stream, and waits until the switch has received it."""
        before = self._all_received().total()
        self.client.packet_out(frame, port)
        self.wait_for(lambda: self._all_received().total() > before)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until `condition` holds; a virtual clock does not advance meanwhile."""
        deadline = time.monotonic() + _SETTLE_TIMEOUT_SECS
        while time.monotonic() < deadline:
            self.switch.advance()
            if condition():
                return
            time.sleep(0.001)
        self.fail(f"the switch has not taken what was sent within {_SETTLE_TIMEOUT_SECS:g} s")

    def settle(self) -> None:
        """Lets the switch admit or drop all frames sent, or fails. In virtual time this takes 100 us."""
        self.switch.advance(us=100)
        if not self.switch.virtual_time:
            self.wait_for(lambda: self._all_received(DATA_PORTS).total() >= self._frames_sent)
            # The last one has been counted, but may still be in ingress.
            self.switch.advance(ms=20)

    def drain(self) -> None:
        """Waits until all queues are empty."""
        if not self.switch.virtual_time:
            self.settle()
        self.switch.drain()

    def drained(self, port: int) -> list[Departure]:
        """Drains all queues, and returns the frames that have left `port` since the last call."""
        self.drain()
        return self.departures(port)

    def plug(self, *ports: int) -> None:
        """Puts one small frame on the wire of each of `ports`, so that frames that arrive next, at the same
        time, are queued, and each finds exactly the bytes of those before it. The counts exclude plugs."""
        for port in ports:
            self.switch.before_plug(port)
        for port in ports:
            ingress = 1 if port != 1 else 2
            for counter, cell in (
                ("received", (ingress, PacketClass.OTHER)),
                ("verdicts", (port, PacketClass.OTHER, Verdict.FORWARDED)),
            ):
                self._base[counter][cell] += 1
            self.send(ingress, packets.udp(port, frm=ingress, payload=PLUG_BYTES - 42))
        self.switch.advance(ns=1)
        for port in ports:
            plug = self.dataplane.poll(port_number=port, timeout=_PLUG_TIMEOUT_SECS)
            self.assertIsInstance(
                plug, self.dataplane.PollSuccess, "the plug must be on the wire, not queued"
            )

    def burst(self, port: int, frames: Sequence[bytes]) -> list[Departure]:
        """Sends frames to `port` at the same time behind a plug, drains the queue, and returns the frames
        that left, without the plug."""
        self.plug(port)
        self.send(1, *frames)
        return self.drained(port)

    # --- configuration -------------------------------------------------------------------------------------

    def obey_pauses(self, port: int, *priorities: int) -> None:
        """Lets the neighbour at a port pause these priorities. In real time, a pause lasts until the test
        ends it, however busy the machine is."""
        quantum_ns = _QUANTUM_NS if self.switch.virtual_time else 200 * _QUANTUM_NS
        params = {
            "quantum_ticks_q16": (quantum_ns << 16) // self.switch.tick_ns,
            "priorities": sum(1 << priority for priority in priorities),
        }
        self.table_add("port_pfc", {"port": port}, "obey_pauses", params)
        for priority in priorities:
            self.table_add("pausable_queue", {"queue": port * PRIORITIES + priority}, "take_pauses")

    def priorities(self, by_dscp: Mapping[int, int]) -> None:
        """Gives packets the queue of a priority, by their DSCP; others are in the lowest queue."""
        self.set_default("switch_config", "set_ecmp_seed_and_priorities", {"seed": 1})
        for dscp, priority in by_dscp.items():
            self.table_add("dscp_priority", {"dscp": dscp}, "set_priority", {"priority": priority})

    def set_aqm(
        self, port: int, action: str, params: Mapping[str, int] | None = None, queue: int | None = None
    ) -> None:
        """Sets the AQM of a port, or of one of its queues, which takes effect if the port's is `by_queue`."""
        if queue is None:
            self.table_add("port_aqm", {"port": port}, action, params)
        else:
            self.table_add("queue_aqm", {"queue": port * PRIORITIES + queue}, action, params)

    def mark_threshold(
        self,
        port: int,
        threshold: int,
        l4s: int | None = None,
        dequeue: bool = False,
        queue: int | None = None,
    ) -> None:
        """Sets marking above `threshold` bytes; for ECT(1) above `l4s` bytes (default: the same)."""
        params = {
            "threshold_bytes": threshold,
            "l4s_threshold_bytes": threshold if l4s is None else l4s,
            "at_dequeue": int(dequeue),
        }
        self.set_aqm(port, "mark_threshold", params, queue)

    def red(
        self,
        port: int,
        *,
        low: int,
        high: int,
        probability: float = 1.0,
        in_packets: bool = False,
        average_shift: int = 0,
        ecn: bool = True,
        protect: int = 0,
        idle_halvings: int = 0,
        idle_shift: int = 0,
        mean_bytes: int = 0,
        queue: int | None = None,
    ) -> None:
        """Sets RED between `low` and `high` (bytes, or packets), with `probability` at `high`: if
        `mean_bytes` is given, it is that of a packet of this size. The average of an idle port halves in
        2^(16 + idle_shift) / idle_halvings ticks."""
        slope = round(probability * _PROBABILITY_ONE / (high - low)) if high > low else 0
        params = {
            "min_threshold": low,
            "max_threshold": high,
            "probability_slope": slope * 256 // mean_bytes if mean_bytes else slope,
            "in_packets": int(in_packets),
            "average_shift": average_shift,
            "ecn": int(ecn),
            "protect": protect,
            "idle_halvings": idle_halvings,
            "idle_shift": idle_shift,
            "mean_bytes": mean_bytes,
        }
        self.set_aqm(port, "red", params, queue)

    def buffer_limit(self, port: int, limit: int, action: str = "set_buffer_limit") -> None:
        """Limits the bytes queued for `port`, or what another action of the table limits."""
        unit = "buffer_packets" if action == "set_buffer_limit_in_packets" else "buffer_bytes"
        self.table_add("port_buffer", {"port": port}, action, {unit: limit})

    # --- counts --------------------------------------------------------------------------------------------

    def forget_counts(self) -> None:
        """Resets the counts: `received` and `verdicts` then report only later packets."""
        self._base = {"received": self._all_received(), "verdicts": self._all_verdicts()}

    def received(self, port: int) -> dict[PacketClass, int]:
        """Returns the packets received on `port` by class, without zeros."""
        found = self._since("received", self._all_received([port]))
        return {PacketClass(c): count for (p, c), count in found.items() if p == port}

    def verdicts(self, port: int) -> dict[tuple[PacketClass, Verdict], int]:
        """Returns the packets of `port` by class and verdict, without zeros: the egress port counts packets
        that were forwarded, marked or dropped from its queue, the ingress port all others."""
        found = self._since("verdicts", self._all_verdicts([port]))
        return {(PacketClass(c), Verdict(v)): count for (p, c, v), count in found.items() if p == port}

    def assert_data(self, port: int, counted: Mapping[Verdict, int]) -> None:
        """Checks that `port` has verdicts on data packets only, as many of each as `counted`."""
        wanted = {(PacketClass.DATA, verdict): count for verdict, count in counted.items()}
        self.assertEqual(self.verdicts(port), wanted)

    def _since(self, name: str, found: Counter[tuple[int, ...]]) -> Counter[tuple[int, ...]]:
        found.subtract(self._base[name])
        return Counter({key: change for key, change in found.items() if change})

    def _all_received(
        self, ports: Iterable[int] = (*DATA_PORTS, COPY_PORT, CPU_PORT)
    ) -> Counter[tuple[int, ...]]:
        return self._cells("received", {received_cell(p, c): (p, c) for p in ports for c in PacketClass})

    def _all_verdicts(self, ports: Iterable[int] = (*DATA_PORTS, CPU_PORT)) -> Counter[tuple[int, ...]]:
        cells = product(ports, PacketClass, Verdict)
        return self._cells("verdicts", {verdict_cell(*cell): cell for cell in cells})

    def _cells(self, counter: str, keys: Mapping[int, tuple[int, ...]]) -> Counter[tuple[int, ...]]:
        found = self.client.packets_counted(counter, keys)
        return Counter({keys[index]: packets for index, packets in found.items()})

    def counted(self, counter: str, cell: int) -> int:
        """Returns the packets in a counter's cell, which is zero when the case begins."""
        return self.client.counter_read(counter, cell)[0]

    def await_frames(self, port: int, count: int) -> list[Departure]:
        """Returns the next frames of a port, once all have arrived. In virtual time that takes 100 us."""
        left: list[Departure] = []
        deadline = time.monotonic() + _SETTLE_TIMEOUT_SECS
        while len(left) < count and time.monotonic() < deadline:
            self.switch.advance(us=100)
            left += self.departures(port)
            if self.switch.virtual_time:
                break
        self.assertEqual(len(left), count, [departure.frame.hex() for departure in left])
        return left

    def frames_made(self) -> int:
        """Returns the number of frames that the switch has generated itself since its start."""
        return 0

    # --- what must always hold -----------------------------------------------------------------------------

    def assert_empty(self) -> None:
        """Checks that both occupancy registers are zero for every port."""
        cells = list(product(("occupancy_bytes", "occupancy_packets"), DATA_PORTS))
        found = self.switch.registers_read(self.client, cells)
        self.assertEqual(found, dict.fromkeys(cells, 0), "registers of empty ports")

    def assert_everything_is_accounted_for(self) -> None:
        """Checks that each class has as many verdicts as packets received or generated by the switch."""
        received, decided = Counter[int]({PacketClass.CONTROL: self.frames_made()}), Counter[int]()
        for (_, packet_class), count in self._all_received().items():
            received[packet_class] += count
        for (_, packet_class, _), count in self._all_verdicts().items():
            decided[packet_class] += count
        self.assertEqual(decided, received, "verdicts and received packets by class, over all ports")


class MarkingTest(FabricTest):
    """Bursts to port 2, and which packets of them leave marked."""

    def marks(self, frames: Sequence[bytes]) -> list[int]:
        """Returns the numbers, from 0, of a burst's frames that left with CE. All must arrive, in order and
        otherwise unchanged."""
        left = self.burst(2, frames)
        self.assertEqual(len(left), len(frames), "every packet must be received")
        marked = [n for n, departure in enumerate(left) if departure.ecn == Ecn.CE]
        ecns = [Ecn.CE if n in marked else None for n in range(len(frames))]
        expected = [packets.forwarded(frame, 2, ecn=ecn) for frame, ecn in zip(frames, ecns, strict=True)]
        self.assert_frames(left, expected)
        return marked

    def threshold_marks(self, settings: Mapping[str, Any], frames: Sequence[bytes], marked: range) -> None:
        """Sets `mark_threshold` at port 2, and checks which data frames of a burst are marked, and that they
        are counted."""
        self.mark_threshold(2, **settings)
        self.assertEqual(self.marks(frames), [*marked])
        counted = Counter(Verdict.MARKED if n in marked else Verdict.FORWARDED for n in range(len(frames)))
        self.assert_data(2, counted)

    def red_marks(self, settings: Mapping[str, Any], frames: Sequence[bytes], marked: range) -> None:
        """Sets RED at port 2 and checks which packets of a burst are marked."""
        self.red(2, **settings)
        self.assertEqual(self.marks(frames), [*marked])
