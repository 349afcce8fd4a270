"""The EEE hold in milliseconds with wide tolerances, so that it can be tested on a switch in real time (BMv2
holds packets by recirculation). Exact tests are in eee.py.

Holds are long and the waits around them longer: a case fails only if the machine stops for 100 ms.
"""

from collections.abc import Mapping
from functools import partial

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest, cases
from ptf_tests.lib.eee import Eee
from ptf_tests.lib.packets import Ecn

_MS = 1_000_000
_LONG_MS = 60_000
"""A hold longer than any case waits."""


numbered = partial(packets.numbered, size=500, ecn=Ecn.ECT0)


class _Coarse(FabricTest):
    def eee(self, settings: Eee, port: int = 2) -> None:
        """Enables EEE on `port`, in the ticks of this target."""
        self.table_add("port_eee", {"port": port}, "eee", settings.params(self.switch.tick_ns))

    def expect(self, frames: list[bytes], marked_from: int | None = None) -> None:
        """Checks that exactly these frames have left, in order, and those from `marked_from` on marked."""
        marked = len(frames) if marked_from is None else marked_from
        wanted = [
            packets.forwarded(frame, 2, ecn=Ecn.CE if n >= marked else None) for n, frame in enumerate(frames)
        ]
        self.assert_frames(self.departures(2), wanted)

    def held_for_its_time(self, settings: Eee, *bursts: list[bytes]) -> None:
        """Checks that each burst is held for 100 ms and has left, in order, after 300 ms."""
        self.eee(settings)
        for frames in bursts:
            self.send(1, *frames)
            self.switch.advance(ms=100)
            self.assert_silent()
            self.switch.advance(ms=200)
            self.drain()
            self.expect(frames)
            self.switch.advance(ms=20)

    def trigger_releases(self, trigger: Mapping[str, int], count: int) -> None:
        """Checks that this many frames are held until the last one comes."""
        self.eee(Eee(sleep=1 * _MS, wake=1 * _MS, hold=_LONG_MS * _MS, **trigger))
        frames = numbered(count)
        self.send(1, *frames[:-1])
        self.switch.advance(ms=200)
        self.assert_silent()
        self.send(1, frames[-1])
        self.drain()
        self.expect(frames)


_WAKE, _HOLD = Eee(sleep=1 * _MS, wake=200 * _MS), Eee(sleep=1 * _MS, wake=1 * _MS, hold=200 * _MS)
_HELD = {
    "CoarseWakeDelaysThePacketThatFindsThePortAsleep": (_WAKE, numbered(3)),
    "CoarseHoldByTimerReleasesEverythingInOrder": (_HOLD, numbered(5), numbered(40)),
}
globals().update(cases(__name__, _Coarse, _Coarse.held_for_its_time, _HELD))

_TRIGGERS = {
    "CoarseHoldByTriggerReleasesEverythingInOrder": ({"trigger_packets": 20}, 20),
    "CoarseHoldByByteTriggerReleasesEverythingInOrder": ({"trigger_bytes": 2_500}, 5),
}
globals().update(cases(__name__, _Coarse, _Coarse.trigger_releases, _TRIGGERS))


class CoarseHoldMarksByWhatIsHeld(_Coarse):
    """The fifth frame finds 2000 bytes held, the threshold; the sixth is the first one to find more."""

    def runTest(self) -> None:
        self.eee(_HOLD)
        self.mark_threshold(2, 2_000)
        frames = numbered(8)
        self.send(1, *frames)
        self.switch.advance(ms=400)
        self.drain()
        self.expect(frames, marked_from=5)


class CoarseHoldOfOnePortDelaysNoOther(_Coarse):
    def runTest(self) -> None:
        self.eee(Eee(sleep=1 * _MS, wake=1 * _MS, hold=400 * _MS))
        held, free = numbered(1)[0], packets.udp(3)
        self.send(1, held, free)
        self.switch.advance(ms=150)
        self.assert_frames(self.departures(3), [packets.forwarded(free, 3)])
        self.assert_silent()
        self.switch.advance(ms=400)
        self.drain()
        self.expect([held])
