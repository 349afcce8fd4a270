"""An apply in waves on switches in this process: what a new program, others or an end do to it, and its gates. The rest is in
`expected/scenarios/waves.yaml`."""

import asyncio

import pytest
from eeon_control import config, constants, fabric, topology
from eeon_control.errors import ApplyError, NothingWritten
from eeon_control.fabric import GateClosed, Rollout, Step
from eeon_control.fabric.read import FabricObservation, Observation
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


async def looking(switches4, rule: str) -> CounterGate:
    """Returns a gate with this rule, after its first look."""
    await applied(switches4, "drop_tail")
    targets = {name: Target.parse(address) for name, address in switches4.targets.items()}
    switches4.switches["leaf1"].set_counter("verdicts", cell("tail_dropped"), 7, 700)
    gate = CounterGate(FABRIC4, targets, [Rule.parse(rule)])
    await gate.before()
    return gate


async def second_look(gate: CounterGate) -> str:
    """Returns why the gate is closed now; empty if it is open."""
    try:
        await gate.after(1, 2, ["leaf1"])
    except GateClosed as error:
        return str(error)
    return ""


def cell(verdict: str, port: int = 1) -> int:
    classes = constants.RECEIVED_CELLS // constants.PORT_CELLS
    verdicts = constants.VERDICT_CELLS // constants.RECEIVED_CELLS
    return port * classes * verdicts + constants.VERDICTS.index(verdict)


@pytest.mark.parametrize(
    ("rule", "verdict", "packets", "said"),
    [
        ("drops", "tail_dropped", 7, ""),
        ("drops", "forwarded", 1000, ""),
        ("drops=10", "tail_dropped", 17, ""),
        (
            "drops",
            "tail_dropped",
            9,
            "the gate is closed: 2 dropped since the apply began, more than 0; most (2) at leaf1:1 tail_dropped",
        ),
        (
            "drops",
            "tail_dropped",
            3,  # fewer than before: a load of the program has reset the counter
            "the gate is closed: 3 dropped since the apply began, more than 0; most (3) at leaf1:1 tail_dropped",
        ),
    ],
)
async def test_drops_are_those_since_the_apply_began(switches4, rule, verdict, packets, said):
    gate = await looking(switches4, rule)
    switches4.switches["leaf1"].set_counter("verdicts", cell(verdict), packets, 0)
    assert await second_look(gate) == said


async def test_byte_account_below_zero_closes_the_gate(switches4):
    gate = await looking(switches4, "account")
    switches4.switches["leaf2"].set_register("occupancy_bytes", 3, 2**32 - 1500)
    assert await second_look(gate) == "the gate is closed: leaf2:3: the byte account is -1500, below zero"


async def test_switch_that_cannot_be_read_any_more_closes_the_gate(switches4):
    gate = await looking(switches4, "drops")
    switches4.switches["leaf2"].stop()
    assert (await second_look(gate)).startswith("the gate is closed: leaf2 (127.0.0.1:")


async def looked(rules: list[str], first: Observation, now: Observation, monkeypatch) -> str:
    """Returns the message of a gate with these rules about two looks at leaf1."""
    looks = iter([FabricObservation({"leaf1": one}, {}) for one in (first, now)])

    async def read(self):
        return next(looks)

    monkeypatch.setattr(CounterGate, "_read", read)
    gate = CounterGate(FABRIC4, {}, [Rule.parse(one) for one in rules])

    await gate.before()
    return await second_look(gate)


async def test_port_that_went_down_closes_the_gate_and_one_that_was_down_or_has_no_link_does_not(monkeypatch):
    first, now = {1: True, 3: False, 9: True}, {1: True, 3: False, 9: False}
    assert await looked(["links"], Observation(0, ports=first), Observation(0, ports=now), monkeypatch) == ""
    gone = await looked(
        ["links"], Observation(0, ports=first), Observation(0, ports=now | {1: False}), monkeypatch
    )
    assert gone == "the gate is closed: down since the apply began: leaf1:1"
    unknown = await looked(["links"], Observation(0), Observation(0), monkeypatch)
    assert unknown == (
        "the gate is closed: leaf1: its link states cannot be read; give `thrift` in the targets file"
    )


async def test_pauses_count_both_ways_and_everything_that_is_wrong_is_said(monkeypatch):
    first = Observation(0, cells={("pauses_sent", 11): 5, ("lossless_dropped", 11): 0}, registers={})
    now = Observation(
        0, cells={("pauses_sent", 11): 7, ("pauses_received", 3): 2, ("lossless_dropped", 11): 9}
    )
    said = await looked(["pauses=3", "account"], first, now, monkeypatch)
    assert said.startswith(
        "the gate is closed: 4 pauses since the apply began, more than 3; most (2) at leaf1 "
    )
    assert said.endswith("; leaf1: its byte account cannot be read")
