"""EEE of a port: it sleeps when it has been idle, and a packet that finds it asleep waits for the wake, with
packet coalescing also for a timer or a trigger. Departure times are exact to the tick (1 ns); frames are
timestamped when their first bit is on the wire.

idle  when the wire went idle          stall  idle time before sleep begins
Ts    the sleep transition, 182 us     Tw     waking, 16.5 us

The timer starts at the first arrival even while the link is still in its sleep transition, and a sleep that
has begun is never aborted; this matters with Ts = 182 us of 1000BASE-T, which is longer than the 12 and 120
us of the papers. Every combination of small times, and random traffic: engine/simple_switch/tests/it/.
"""

from ptf_tests.lib.base_test import cases
from ptf_tests.lib.eee import SLEEP_NS, WAKE_NS, Eee, EeeTest

HOLD = 120_000
SIZE = 500
_STALL = 50_000


class EeeOffBurstLeavesAtLinkRate(EeeTest):
    """By default and by name, from its arrival on."""

    def runTest(self) -> None:
        self.leave([0] * 5, 0)
        self.table_add("port_eee", {"port": 2}, "eee_off")
        self.leave([0] * 5, 0)


class StandardEeePortIsAsleepSinceTheSwitchStarted(EeeTest):
    """A port that has never sent sleeps: the very first packet waits for a wake."""

    def runTest(self) -> None:
        self.eee(Eee())
        self.leave([0], WAKE_NS)


_ASLEEP = {
    "StandardEeeSleepingPortTakesTwToWake": (Eee(), [0], WAKE_NS),
    # All held packets leave back to back when the gate opens, at a time that only the first arrival
    # determines.
    "HoldTimerIsNotRestartedByLaterArrivals": (Eee(hold=HOLD), range(0, 120_000, 20_000), HOLD + WAKE_NS),
    "HoldPacketTriggerWakesAtTheNthPacket": (
        Eee(hold=HOLD, trigger_packets=4),
        range(0, 20_000, 5_000),
        15_000 + WAKE_NS,
    ),
    # 1500 bytes: the third frame of 500 brings them up to exactly the trigger.
    "HoldByteTriggerWakesWhenEnoughBytesAreHeld": (
        Eee(hold=HOLD, trigger_bytes=3 * SIZE),
        range(0, 25_000, 5_000),
        10_000 + WAKE_NS,
    ),
}
globals().update(cases(__name__, EeeTest, EeeTest.asleep_leaves, _ASLEEP))


_IDLE = {
    # A sleep that has begun is never aborted.
    "StandardEeeArrivalInTheSleepTransitionWaitsForItsEnd": (Eee(), [1], SLEEP_NS + WAKE_NS),
    # One tick before the end of the stall the port is still awake.
    "StandardEeeArrivalWithinTheStallLeavesAtOnce": (Eee(stall=_STALL), [_STALL - 1], _STALL - 1),
    # A packet that finds the port idle for exactly the stall time is one tick too late.
    "StandardEeeArrivalAsTheStallEndsFindsSleepBegun": (
        Eee(stall=_STALL),
        [_STALL],
        _STALL + SLEEP_NS + WAKE_NS,
    ),
    # Arrival 10 us into the transition: the timer fires at 130 us, the link is asleep at 182 us and wakes
    # at once.
    "HoldTimerRunsDuringTheSleepTransition": (Eee(hold=HOLD), [10_000], SLEEP_NS + WAKE_NS),
}
globals().update(cases(__name__, EeeTest, EeeTest.idle_leaves, _IDLE))
