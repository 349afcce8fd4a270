"""An apply in waves on switches in this process: what a new program, others or an end do to it, and its gates. The rest is in
`expected/scenarios/waves.yaml`."""

import asyncio

import pytest
from eeon_control import config, constants, fabric, topology
from eeon_control.errors import ApplyError, NothingWritten
from eeon_control.fabric import GateClosed, Rollout, Step
from eeon_control.fabric.transaction import ApplyCancelled
from eeon_control.operations.gates import CounterGate, Rule
from eeon_control.plan.waves import waves
from eeon_control.targets import Target
from killed_applies import OpenGate
from programs import another

pytestmark = pytest.mark.system

FABRIC4 = topology.load("leaf-spine-4")
TICK_PS = 1000


async def applied(switches4, name: str, **options):
    return await fabric.apply(FABRIC4, config.load(name), switches4.targets, TICK_PS, **options)


async def test_new_program_goes_through_the_fabric_in_waves_and_all_have_the_old_one_when_a_gate_closes(
    switches4,
):
    await applied(switches4, "drop_tail")
    targets = {name: Target.parse(address) for name, address in switches4.targets.items()}
    for one in switches4.switches.values():
        one.config = another(one.config, 7)
        one.lose_one()
    before, seen = switches4.state(), []

    class Watching(OpenGate):
        async def after(self, number, waves, changed) -> None:
            await counters.after(number, waves, changed)
            seen.append([one.config.cookie.cookie == 7 for one in switches4.switches.values()])
            if number == 3:
                raise GateClosed("it is raining")

    # Counters of switches with another program are not read before their wave.
    counters = CounterGate(FABRIC4, targets, [Rule.parse("drops")])
    await counters.before()
    with pytest.raises(ApplyError, match="wave 3 of 4: it is raining"):
        await applied(switches4, "drop_tail", rollout=Rollout(waves(FABRIC4, "rest"), gates=[Watching()]))
    cookies = [one.config.cookie.cookie for one in switches4.switches.values()]
    as_before = switches4.state() == before
    assert seen == [[False, True, True, True], [False, False, True, True], [False, False, False, True]]
    assert cookies == [7] * 4 and as_before


async def test_what_others_write_to_an_earlier_wave_is_found_at_the_end_and_all_is_undone(switches4):
    await applied(switches4, "drop_tail")
    before = switches4.state()

    class Disturbed(OpenGate):
        async def after(self, number, waves, changed) -> None:
            if number == 2:
                switches4.switches["leaf1"].lose_one()

    with pytest.raises(
        ApplyError, match="leaf1: accepted every write, but when read back, 1 entry differs: "
    ):
        await applied(
            switches4, "mark_threshold", rollout=Rollout(waves(FABRIC4, "rest"), gates=[Disturbed()])
        )
    assert switches4.state() == before


async def test_apply_that_is_stopped_in_a_pause_undoes_the_waves_before_it(switches4):
    await applied(switches4, "drop_tail")
    before = switches4.state()
    first = asyncio.Event()
    rollout = Rollout(waves(FABRIC4, "rest"), pause_seconds=3600)
    work = asyncio.create_task(
        applied(
            switches4,
            "mark_threshold",
            rollout=rollout,
            observer=lambda step, _: first.set() if step is Step.VERIFIED else None,
        )
    )
    await first.wait()
    work.cancel()
    with pytest.raises(ApplyCancelled, match="undone on leaf1: every switch is as it was before"):
        await work
    assert switches4.state() == before


async def test_switch_outside_of_the_waves_that_would_have_to_be_written_stops_the_apply(switches4):
    with pytest.raises(NothingWritten, match=r"^leaf2, spine1, spine2: not as in the revision in force"):
        await applied(switches4, "drop_tail", rollout=Rollout((("leaf1",),)))
    assert [one.pushes for one in switches4.switches.values()] == [0] * 4


# -- gates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("account", "leaf2:3: the byte account is -1500, below zero"),
        ("drops", r"leaf2 \(127\.0\.0\.1:.*; 7 dropped since the apply began"),
    ],
)
async def test_account_below_zero_drops_and_a_switch_that_cannot_be_read_any_more_close_the_gate(
    switches4, rule, said
):
    await applied(switches4, "drop_tail")
    targets = {name: Target.parse(address) for name, address in switches4.targets.items()}
    gate, leaf2 = CounterGate(FABRIC4, targets, [Rule.parse(rule)]), switches4.switches["leaf2"]
    await gate.before()
    await gate.after(1, 2, ["leaf1"])
    leaf2.set_register("occupancy_bytes", 3, 2**32 - 1500)
    tail_dropped = 1 << 7 | constants.VERDICTS.index("tail_dropped")  # of port 1, class data
    switches4.switches["leaf1"].set_counter("verdicts", tail_dropped, 7, 700)
    if rule == "drops":
        leaf2.stop()
    with pytest.raises(GateClosed, match=f"^the gate is closed: {said}"):
        await gate.after(1, 2, ["leaf1"])
