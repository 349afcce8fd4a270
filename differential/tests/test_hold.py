"""The EEE hold by recirculation (BMv2) and by the gate (the engine): the same departures, up to BMv2's own
delay.

What is exact: the order of departures, and that nothing leaves BMv2 before the engine's gate has opened, up
to the tick of one microsecond. What is not: how much later it leaves. A packet that goes round looks at the
gate once a loop, and a loop is a passage through ingress and egress behind the other packets that go round;
then it must get to this test's socket. No constant says how long that takes on a computer that does other
things, so the same run measures it: probes pass the same switch during the same holds without being held.
Of a burst of k packets each may have to wait for a loop of all k and for its own passage: (k + 1) probes.
Medians are compared, because the scheduler's worst moments hit probes and held packets at random.
"""

from __future__ import annotations

import logging
from statistics import median

import pytest

from differential import bmv2, hold

pytestmark = pytest.mark.system

needs_bmv2 = pytest.mark.skipif(bmv2.why_not() is not None, reason=str(bmv2.why_not()))
BURSTS = 30
TICK_US = 1.0


@pytest.fixture(autouse=True)
def quiet() -> None:
    logging.getLogger("eeon_engine").setLevel(logging.CRITICAL)


def test_the_engines_gate_opens_by_the_timer_or_at_the_trigger() -> None:
    packets = hold.plan(4)
    course = hold.on_engine(packets, {packet.number: packet.at_us for packet in packets})
    timed, triggered, *_ = hold.bursts_of(packets)
    opens = hold.HOLD_US + hold.WAKE_US
    assert [course.left_us[packet.number] for packet in timed] == [timed[0].at_us + opens] * len(timed)
    opens = triggered[-1].at_us + hold.WAKE_US
    assert [course.left_us[packet.number] for packet in triggered] == [opens] * hold.TRIGGER_PACKETS


@needs_bmv2
def test_recirculation_has_the_gates_departures_and_order() -> None:
    packets = hold.plan(BURSTS)
    looped = hold.on_bmv2(packets)
    gated = hold.on_engine(packets, looped.arrived_us)
    assert len(looped.left_us) == len(gated.left_us) == len(packets)
    assert looped.order == gated.order == [p.number for p in packets if p.net == hold.HELD_NET]
    passage_us = median(
        looped.left_us[packet.number] - looped.arrived_us[packet.number]
        for packet in packets
        if packet.net == hold.PROBED_NET
    )
    late_us: dict[int, list[float]] = {}
    drained_us = -1e9
    for burst in hold.bursts_of(packets):
        numbers = [packet.number for packet in burst]
        # A computer that stood still for the whole idle time has kept the port awake on one side only.
        found_asleep = drained_us + hold.SLEEP_US < looped.arrived_us[numbers[0]]
        drained_us = looped.left_us[numbers[-1]]
        if not found_asleep:
            continue
        late = [looped.left_us[number] - gated.left_us[number] for number in numbers]
        assert min(late) >= -TICK_US, f"burst {burst[0].burst} left before the gate: {late}"
        late_us.setdefault(len(numbers), []).extend(late)
    for count, late in late_us.items():
        assert len(late) >= BURSTS * count / 4, "BMv2 stood still for most of the run"
        shown = f"{count} packets held: {median(late):.0f} us late, a probe takes {passage_us:.0f} us"
        assert median(late) <= TICK_US + (count + 1) * passage_us, shown
        logging.getLogger(__name__).info(shown)
