"""Standard EEE, without coalescing: a port that has been idle sleeps, and a packet that finds it asleep waits
for the wake. Departure times are exact to the tick (1 ns); frames are timestamped when their first bit is on
the wire.

idle  when the wire went idle          stall  idle time before sleep begins
Ts    the sleep transition, 182 us     Tw     waking, 16.5 us
"""

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import cases
from ptf_tests.lib.eee import SLEEP_NS, WAKE_NS, Eee, EeeTest
from ptf_tests.lib.ports import BYTE_NS
from ptf_tests.lib.targets.base import SwitchOptions

_STALL = 50_000


class EeeOffBurstLeavesAtLinkRate(EeeTest):
    """By default and by name, from its arrival on."""

    def runTest(self) -> None:
        self.leave([0] * 5, 0)
        self.table_add("port_eee", {"port": 2}, "eee_off")
        self.leave([0] * 5, 0)


_ASLEEP = {
    "StandardEeeSleepingPortTakesTwToWake": (Eee(), [0], WAKE_NS),
    "StandardEeeArrivalsDuringTheWakeLeaveBehindTheFirst": (Eee(), [n * 1_000 for n in range(4)], WAKE_NS),
}
globals().update(cases(__name__, EeeTest, EeeTest.asleep_leaves, _ASLEEP))


class StandardEeePortIsAsleepSinceTheSwitchStarted(EeeTest):
    """A port that has never sent sleeps: the very first packet waits for a wake."""

    def runTest(self) -> None:
        self.eee(Eee())
        self.leave([0], WAKE_NS)


class StandardEeePortThatNeverSentSleepsForDays(EeeTest):
    """The same 45 hours after the start, when the clock is past half of its period."""

    options = SwitchOptions(clock_start_ns=45 * 3600 * 10**9)

    def runTest(self) -> None:
        self.eee(Eee())
        for _ in range(2):
            self.leave([0], WAKE_NS)


class StandardEeeArrivalInTheSleepTransitionWaitsForItsEnd(EeeTest):
    """A sleep that has begun is never aborted: departure is at idle + Ts + Tw, for any arrival in the
    transition."""

    def runTest(self) -> None:
        self.eee(Eee())
        for into in (1, 1_000, 100_000, SLEEP_NS - 1):
            with self.subTest(into_transition_ns=into):
                self.drain()
                self.leave([into], SLEEP_NS + WAKE_NS, self.prime())


_IDLE = {
    "StandardEeeArrivalAsTheTransitionEndsWakesAtOnce": (Eee(), [SLEEP_NS], SLEEP_NS + WAKE_NS),
    # One tick before the end of the stall the port is still awake.
    "StandardEeeArrivalWithinTheStallLeavesAtOnce": (Eee(stall=_STALL), [_STALL - 1], _STALL - 1),
    # A packet that finds the port idle for exactly the stall time is one tick too late.
    "StandardEeeArrivalAsTheStallEndsFindsSleepBegun": (
        Eee(stall=_STALL),
        [_STALL],
        _STALL + SLEEP_NS + WAKE_NS,
    ),
}
globals().update(cases(__name__, EeeTest, EeeTest.idle_leaves, _IDLE))


class StandardEeeWithoutStallSleepsAsTheWireGoesIdle(EeeTest):
    """Stall 0: a packet that arrives when the last bit has gone finds sleep begun, one a tick earlier does
    not."""

    def runTest(self) -> None:
        self.eee(Eee())
        self.leave([0], SLEEP_NS + WAKE_NS, self.prime())
        self.leave([-1], 0, self.prime())


class StandardEeeRegistersTellTheWake(EeeTest):
    """While the packet waits: state WAKE, the gate at the end of the wake, the interrupted sleep. Afterwards:
    ACTIVE, no gate, busy until the wire is idle."""

    def runTest(self) -> None:
        self.eee(Eee())
        asleep = self.asleep_since_long()
        now = self.switch.now_ns
        self.send(1, packets.data(2, size=1000))
        self.assertEqual(self.register("eee_state", 2), 2)
        self.assertEqual(self.register("wake_start", 2), now)
        self.assertEqual(self.register("gate_open_at", 2), now + WAKE_NS)
        self.assert_account("asleep_at", 2, asleep, self.late_ns)
        self.drain()
        (departure,) = self.departures(2)
        self.assertEqual(self.register("eee_state", 2), 0)
        self.assertEqual(self.register("gate_open_at", 2), 0)
        self.assertEqual(self.register("busy_until", 2), departure.at_ns + 1024 * BYTE_NS)


class StandardEeePortsSleepByThemselves(EeeTest):
    """Port 3 has EEE and sleeps; port 2 has none. Neither delays the other."""

    def runTest(self) -> None:
        self.eee(Eee(), port=3)
        now = self.switch.now_ns
        self.send(1, packets.udp(3), packets.udp(2))
        self.drain()
        self.assert_leaves(self.departures(2), [now])
        self.assert_leaves(self.departures(3), [now + WAKE_NS])


_SWITCHED_OFF = {
    # A wake that has begun ends as planned; later packets neither overtake nor wait indefinitely.
    "EeeSwitchedOffWhilePacketsWaitKeepsThemInOrder": (Eee(), WAKE_NS),
}
globals().update(cases(__name__, EeeTest, EeeTest.switched_off_leaves, _SWITCHED_OFF))
