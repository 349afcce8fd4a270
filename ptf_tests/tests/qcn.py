"""Quantized congestion notification (IEEE 802.1Q-2022 clauses 30 to 33).

The sampling of a queue, the content of the messages, and their destinations.

Packets arrive at port 1 and wait in queue 0 of port 2, which has a congestion point; messages (CNMs) leave at
port 1. `Point` is a congestion point in plain Python.
"""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import PLUG_BYTES, FabricTest, cases, virtual_time_only
from ptf_tests.lib.packets import PacketClass, Verdict, mac_int
from ptf_tests.lib.ports import COPY_PORT, DATA_PORTS, NUMBERS, PRIORITIES

SOURCE, PORT, CORE = 1, 2, 3
MAC = "02:01:00:00:00:0a"
SET_POINT, SAMPLE = 20_000, 40_000
WEIGHT_SHIFT = 1

CNM = bytes.fromhex(
    "020000000001 020100000001 22e7 003e 02010000000a 0010 fec7 0270 0000 020100000001 0040"
    "0800 450003da43210000 3f06 1dfc 0a000101 0a000201 c35034fa 000003e8 000007d0 50102000 711e 0000"
    + "00"
    * 22
)
"""40 frames of 1000 bytes, 60 bytes at the last sample, feedback 62; the TTL is one less."""


@dataclass
class Point:
    """A congestion point without jitter."""

    set_point: int = SET_POINT
    weight: int = 1 << WEIGHT_SHIFT
    sample: int = SAMPLE
    left: int = 0
    old: int = 0
    feedback: int = 0

    def arrives(self, length: int, found: int) -> tuple[int, int, int] | None:
        """Processes a frame that finds `found` bytes; returns a sample's feedback, offset, delta in 64 B."""
        if self.left > length:
            self.left -= length
            return None
        depth = found + length
        offset, delta = self.set_point - depth, depth - self.old
        excess = min(max(0, self.weight * delta - offset), self.set_point * (2 * self.weight + 1))
        feedback = 63 * excess // (self.set_point * (2 * self.weight + 1))
        # As a share of 2^16, rounded.
        self.left = self.sample * round(65536 / (1 + feedback // 8)) >> 16
        self.old = depth
        return feedback, offset // 64, delta // 64


def cnm_of(frame: bytes, feedback: int, offset: int, delta: int, queue: int = PORT * PRIORITIES) -> bytes:
    """Returns the CNM for a sampled frame, as it leaves at the port of the frame's source."""
    carried = packets.forwarded(frame, PORT)[12:][:64]
    addresses = packets.host_mac(SOURCE) + packets.switch_mac(SOURCE)
    head = bytes.fromhex(addresses.replace(":", "") + "22e7")
    pdu = struct.pack("!H6sHhh", feedback, mac_int(MAC).to_bytes(6, "big"), queue, offset, delta)
    return head + pdu + struct.pack("!H6sH", queue % PRIORITIES << 13, frame[:6], len(carried)) + carried


class _Qcn(FabricTest):
    """A congestion point at queue 0 of port 2; CNMs are trusted at port 3."""

    jitter_q16 = 0

    def setUp(self) -> None:
        super().setUp()
        self.priorities({})
        self.set_default("cnm_source", "make_cnm", {"mac": mac_int(MAC)})
        self.clone_session(NUMBERS["constants"]["COPY_SESSION"], COPY_PORT)
        self.table_add("port_cnm", {"port": CORE}, "trust_cnms")

    def point(self, priority: int = 0, point: Point | None = None) -> Point:
        """Writes the settings of a congestion point at port 2."""
        point = point or Point()
        whole = point.set_point * (2 * point.weight + 1)
        params = {
            "set_point_bytes": point.set_point,
            "weight_shift": point.weight.bit_length() - 1,
            "range_bytes": whole,
            "scale_q56": -(-(63 << 56) // whole),
            "sample_bytes": point.sample,
            "jitter_q16": self.jitter_q16,
        }
        queue = PORT * PRIORITIES + priority
        self.table_add("port_qcn", {"queue": queue}, "qcn", params)
        point.left = self.register("qcn_sample_left", queue)
        point.old = self.register("qcn_old_bytes", queue)
        return point

    def plugged(self, point: Point) -> bool:
        """Processes the plug, which finds nothing and causes no CNM; returns whether it is sampled."""
        sample = point.arrives(PLUG_BYTES, 0)
        self.assertTrue(sample is None or sample[0] == 0)
        return sample is not None

    def frames_made(self) -> int:
        queues = [port * PRIORITIES + priority for port in DATA_PORTS for priority in range(PRIORITIES)]
        return self._cells("cnms_made", {queue: (queue,) for queue in queues}).total()

    def assert_cnms(self, wanted: Sequence[bytes], port: int = SOURCE) -> None:
        """Checks that exactly these frames have left a port."""
        self.assert_frames(self.drained(port), wanted)


def frames(count: int, size: int = 1000) -> list[bytes]:
    """Returns data frames for the host behind port 2."""
    return [packets.data(PORT, size=size) for _ in range(count)]


class CnmOfAFullQueueIsTheStandardsFrame(_Qcn):
    """Byte for byte."""

    def runTest(self) -> None:
        point = self.point()
        self.assertEqual((point.left, point.old), (0, 0), "a switch without history")
        self.assertEqual(len(self.burst(PORT, frames(40))), 40)
        self.assert_cnms([CNM])
        self.assertEqual(cnm_of(frames(1)[0], 62, (SET_POINT - 40_000) // 64, 624), CNM)
        self.assertEqual(self.frames_made(), 1)
        self.assertEqual(self.verdicts(SOURCE)[PacketClass.CONTROL, Verdict.FORWARDED], 1)


class _Modelled(_Qcn):
    """The frames that leave to the source are those of the congestion point in Python."""

    def cnms(
        self, point: Point, sent: Sequence[bytes], queue: int = PORT * PRIORITIES, *, is_kept: bool = True
    ) -> tuple[list[bytes], int]:
        """Returns the CNMs of frames that the queue keeps, or refuses, and the number of samples."""
        wanted, samples, found = [], 0, 0
        for frame in sent:
            sample = point.arrives(len(frame), found)
            found += len(frame) if is_kept else 0
            samples += sample is not None
            if sample and sample[0]:
                wanted.append(cnm_of(frame, *sample, queue))
        return wanted, samples

    def expect(self, point: Point, sent: Sequence[bytes]) -> None:
        queue = PORT * PRIORITIES
        before, made = self.counted("qcn_samples", queue), self.frames_made()
        of_plug = int(self.plugged(point))
        wanted, samples = self.cnms(point, sent)
        self.assert_frames(self.burst(PORT, sent), [packets.forwarded(frame, PORT) for frame in sent])
        self.assert_cnms(wanted)
        self.assertEqual(self.counted("qcn_samples", queue) - before, of_plug + samples)
        self.assertEqual(self.frames_made() - made, len(wanted))


@virtual_time_only
class EveryLevelOfFeedbackHasItsPeriod(_Modelled):
    """Queues that grow past the set point; the stronger the feedback, the sooner the next sample."""

    def runTest(self) -> None:
        for set_point in (500, 1_000, 20_000, 66_000, 200_000):
            with self.subTest(set_point=set_point):
                point = self.point(point=Point(set_point=set_point))
                self.expect(point, frames(300))


@virtual_time_only
class RandomTrafficIsSampledAsTheModelSays(_Modelled):
    def runTest(self) -> None:
        draw = random.Random(7)
        for _ in range(20):
            point = Point(
                set_point=draw.choice((500, 5_000, 26_000, 66_001)),
                weight=1 << draw.randrange(4),
                sample=draw.choice((1, 1_500, 20_000, 150_000)),
            )
            point = self.point(point=point)
            sent = [
                packets.data(PORT, size=draw.randrange(60, 1515), sport=draw.randrange(1, 65536))
                for _ in range(120)
            ]
            self.expect(point, sent)


@virtual_time_only
class QueueOfItsOwnPriorityIsSampled(_Modelled):
    """A higher queue's congestion point has its own bytes, the lowest's the rest; the CNM names the queue."""

    def runTest(self) -> None:
        self.table_add("dscp_priority", {"dscp": 26}, "set_priority", {"priority": 3})
        for priority, dscp in ((3, 26), (0, 0)):
            with self.subTest(priority=priority):
                point = self.point(priority=priority)
                self.plug(PORT)
                if priority == 0:
                    self.plugged(point)
                self.send(SOURCE, *(packets.data(PORT, size=1000, dscp=26 - dscp) for _ in range(100)))
                sent = [packets.data(PORT, size=1000, dscp=dscp) for _ in range(60)]
                self.send(SOURCE, *sent)
                wanted, _ = self.cnms(point, sent, PORT * PRIORITIES + priority)
                self.assertTrue(wanted)
                self.assert_cnms(wanted)
                self.departures(PORT)
                self.table_remove("port_qcn", {"queue": PORT * PRIORITIES + priority})


@virtual_time_only
class FramesThatDoNotFitAreSampledToo(_Modelled):
    def runTest(self) -> None:
        point = self.point(point=Point(set_point=500, sample=1))
        self.buffer_limit(PORT, 500)
        sent = frames(3)
        self.plug(PORT)
        self.plugged(point)
        self.send(SOURCE, *sent)
        self.assert_cnms(self.cnms(point, sent, is_kept=False)[0])
        self.assertEqual(self.verdicts(PORT)[PacketClass.DATA, Verdict.TAIL_DROPPED], 3)


@virtual_time_only
class JitterStaysWithinItsBounds(_Qcn):
    """15 %: the next sample is due after 85 % to 115 % of 40 KB, and not always after the same amount."""

    jitter_q16 = 9_830

    def runTest(self) -> None:
        seen = set()
        self.point(point=Point(set_point=200_000, sample=SAMPLE))
        for _ in range(40):
            while self.register("qcn_sample_left", PORT * PRIORITIES) > 1000:
                self.send(SOURCE, *frames(1))
                self.drain()
            self.send(SOURCE, *frames(1))
            seen.add(self.register("qcn_sample_left", PORT * PRIORITIES))
        self.assertGreater(len(seen), 20)
        self.assertGreaterEqual(min(seen), 34_000)
        self.assertLessEqual(max(seen), 46_000)
        self.assertLess(min(seen), 37_000)
        self.assertGreater(max(seen), 43_000)


class QueueWithoutSettingsSendsNothing(_Qcn):
    def runTest(self) -> None:
        self.burst(PORT, frames(100))
        self.assert_cnms([])
        self.assertEqual(self.frames_made(), 0)


class _Carried(_Qcn):
    """A frame that is sampled at once, and every byte of its CNM."""

    def sampled(self, frame: bytes) -> None:
        self.point(point=Point(set_point=100, sample=1))
        self.send(SOURCE, frame)
        self.assert_frames(self.drained(PORT), [packets.forwarded(frame, PORT)])
        point = Point(set_point=100, sample=1)
        sample = point.arrives(len(frame), 0)
        assert sample is not None
        self.assert_cnms([cnm_of(frame, *sample)])


_CARRIED = {
    "Ipv6IsCarried": (packets.data(PORT, ipv6=True),),
    "TagIsCarriedWithTheFrame": (packets.data(PORT, vlan=5),),
    # 60 bytes less two addresses are 48.
    "ShortFrameIsCarriedWhole": (packets.tcp(PORT, pad_to=60),),
    "FragmentIsCarried": (packets.tcp_fragment(PORT, first=False),),
    "UdpIsCarried": (packets.udp(PORT, payload=200),),
}
globals().update(cases(__name__, _Carried, _Carried.sampled, _CARRIED))


class CnmOfAnotherSwitchGoesToTheSource(_Qcn):
    """The TTL in the CNM is decremented again, the outer addresses are those of the next hop, and a buffer's
    limit does not apply."""

    def runTest(self) -> None:
        self.buffer_limit(SOURCE, 0)
        source, destination = packets.host_mac(SOURCE), packets.switch_mac(SOURCE)
        for ipv6 in (False, True):
            frame = packets.data(PORT, ipv6=ipv6)
            self.send(CORE, bytes.fromhex("020100000003 020100000099") + cnm_of(frame, 17, -3, 5)[12:])
            again = packets.forwarded(frame, PORT, src_mac=source, dst_mac=destination)
            self.assert_cnms([cnm_of(again, 17, -3, 5)])
        self.assertEqual(self.frames_made(), 0)
        self.assertEqual(self.verdicts(SOURCE)[PacketClass.CONTROL, Verdict.FORWARDED], 2)


class CnmsStandInTheirOwnQueue(_Qcn):
    """Ahead of the packets that waited for the port."""

    def runTest(self) -> None:
        self.set_default("cnm_queue", "set_cnm_priority", {"priority": 7})
        self.plug(SOURCE)
        waits = [packets.data(SOURCE, frm=PORT, size=1000) for _ in range(3)]
        self.send(PORT, *waits)
        self.send(CORE, packets.arriving(cnm_of(packets.data(PORT), 1, 0, 0), CORE))
        left = [departure.frame[12:14] for departure in self.drained(SOURCE)]
        # BMv2 takes the next frame out of the queue before the one on the wire has gone.
        self.assertLessEqual(left.index(b"\x22\xe7"), 0 if self.switch.virtual_time else 1)
        self.assertEqual(len(left), 4)


class CnmOfAHostIsCountedAndGoesNowhere(_Qcn):
    def runTest(self) -> None:
        self.send(SOURCE, packets.arriving(cnm_of(packets.data(PORT), 63, 0, 0), SOURCE))
        self.drain()
        self.assert_silent()
        self.assertEqual(self.counted("cnms_ignored", SOURCE), 1)
        self.assertEqual(self.verdicts(SOURCE), {(PacketClass.CONTROL, Verdict.CONSUMED): 1})


class CnmOfTheControllerGoesAsItIs(_Qcn):
    """A packet-out has a port and no route, so its addresses are unchanged."""

    def runTest(self) -> None:
        self.packet_out(CORE, CNM)
        self.assert_cnms([CNM], CORE)


def changed(at: int, value: bytes) -> bytes:
    """Returns a CNM with other bytes."""
    cnm = bytearray(cnm_of(packets.data(PORT), 9, 0, 0))
    cnm[at : at + len(value)] = value
    return bytes(cnm)


class _Refused(_Qcn):
    def refused(self, packet_class: PacketClass, verdict: Verdict, *cnms: bytes) -> None:
        """Checks the verdict of CNMs that a trusted neighbour should not have sent."""
        self.send(CORE, *(packets.arriving(cnm, CORE) for cnm in cnms))
        self.drain()
        self.assert_silent()
        self.assertEqual(self.verdicts(CORE), {(packet_class, verdict): len(cnms)})


_WHOLE = cnm_of(packets.data(PORT), 9, 0, 0)
_REFUSED = {
    # Another version; more bytes than 64, or than there are; no IP, or an incomplete header.
    "MalformedCnmsAreDropped": (
        *(PacketClass.OTHER, Verdict.MALFORMED),
        changed(14, b"\x10"),
        changed(36, b"\x00\x41") + bytes(20),
        changed(36, b"\x01\x00") + bytes(300),
        *(_WHOLE[:-1], _WHOLE[:30]),
        changed(38, b"\x08\x06"),
        changed(40, b"\x55"),
        changed(40, b"\x44"),
        changed(36, b"\x00\x15"),
        changed(36, b"\x00\x19"),
        changed(40, b"\x46"),
        changed(50, b"\x00\x00"),
    ),
    # Each switch decrements the TTL in the CNM.
    "CnmInALoopEnds": (
        *(PacketClass.CONTROL, Verdict.TTL_EXPIRED),
        *(cnm_of(packets.data(PORT, ipv6=ipv6, ttl=2), 9, 0, 0) for ipv6 in (False, True)),
    ),
    "CnmForNoRouteIsDropped": (
        *(PacketClass.CONTROL, Verdict.NO_ROUTE),
        cnm_of(packets.data(PORT, frm=200), 9, 0, 0),
    ),
}
globals().update(cases(__name__, _Refused, _Refused.refused, _REFUSED))
