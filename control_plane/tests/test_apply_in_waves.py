"""An apply in waves on fake switches: the order of writes, gates, and undo."""

import asyncio

import pytest
from eeon_control import config, constants, fabric, program, topology
from eeon_control.errors import ApplyError, NothingWritten
from eeon_control.fabric import GateClosed, Rollout, Step, sync
from eeon_control.fabric.read import FabricObservation, Observation
from eeon_control.fabric.transaction import ApplyCancelled
from eeon_control.operations.gates import CommandGate, CounterGate, Rule
from eeon_control.plan.waves import waves
from eeon_control.targets import Target
from programs import another

pytestmark = pytest.mark.system

FABRIC4 = topology.load("leaf-spine-4")
TICK_PS = 1000


def run(work):
    return sync.run(asyncio.wait_for(work, 60))


class Gate:
    """A gate that records its calls, and closes after a wave."""

    def __init__(self, closes_behind: int | None = None) -> None:
        self.asked: list[tuple[int, int, tuple[str, ...]]] = []
        self.closes_behind = closes_behind

    async def before(self) -> None:
        self.asked.append((0, 0, ()))
        if self.closes_behind == 0:
            raise GateClosed("it is raining")

    async def after(self, number, waves, changed) -> None:
        self.asked.append((number, waves, tuple(changed)))
        if number == self.closes_behind:
            raise GateClosed("it is raining")


async def applied(fakes, name: str, **options):
    return await fabric.apply(FABRIC4, config.load(name), fakes.targets, TICK_PS, **options)


def test_switches_of_a_later_wave_are_written_when_those_before_are_read_back(fakes):
    told = []

    rollout = Rollout(waves(FABRIC4, "1,rest"), gates=[Gate()])
    run(applied(fakes, "drop_tail", rollout=rollout, observer=lambda *step: told.append(step)))
    asked = rollout.gates[0].asked
    assert asked == [
        (0, 0, ()),
        (1, 4, ("leaf1",)),
        (2, 4, ("leaf1", "leaf2")),
        (3, 4, ("leaf1", "leaf2", "spine1")),
        (4, 4, ("leaf1", "leaf2", "spine1", "spine2")),
    ]
    order = [step for step in told if step[0] in (Step.WRITING, Step.PASSED, Step.COMMITTED)]
    assert order == [
        *(
            (step, what.format(number, name))
            for number, name in enumerate(FABRIC4.switches, 1)
            for step, what in ((Step.WRITING, "{1}"), (Step.PASSED, "wave {0} of 4"))
        ),
        (Step.COMMITTED, ""),
    ]


@pytest.mark.parametrize("closes_behind", [1, 3, 4])
def test_gate_that_closes_undoes_all_waves_and_says_which_wave(closes_behind, fakes):
    run(applied(fakes, "drop_tail"))
    before, written = fakes.state(), {}
    rollout = Rollout(waves(FABRIC4, "rest"), gates=[Gate(closes_behind)])
    for name, one in fakes.switches.items():
        one.updates.clear()
        written[name] = one.updates
    with pytest.raises(ApplyError) as error:
        run(applied(fakes, "mark_threshold", rollout=rollout))
    assert fakes.state() == before
    error, written = error.value, [name for name, updates in written.items() if updates]
    assert str(error).startswith(f"wave {closes_behind} of 4: it is raining\nundone on leaf1")
    assert list(error.undone) == written == list(FABRIC4.switches)[:closes_behind]


def test_gate_that_is_closed_before_the_first_wave_leaves_everything_unwritten(fakes):
    with pytest.raises(NothingWritten, match=r"^it is raining$"):
        run(applied(fakes, "drop_tail", rollout=Rollout(waves(FABRIC4, "rest"), gates=[Gate(0)])))
    assert [(one.pushes, len(one.updates)) for one in fakes.switches.values()] == [(0, 0)] * 4


def test_new_program_goes_through_the_fabric_in_waves_and_all_have_the_old_one_when_a_gate_closes(fakes):
    run(applied(fakes, "drop_tail"))
    targets = {name: Target.parse(address) for name, address in fakes.targets.items()}
    for one in fakes.switches.values():
        one.config = another(one.config, 7)
        one.entries.popitem()
    before, seen = fakes.state(), []

    class Watching(Gate):
        async def after(self, number, waves, changed) -> None:
            await counters.after(number, waves, changed)
            seen.append([one.config.cookie.cookie == 7 for one in fakes.switches.values()])
            await super().after(number, waves, changed)

    # Counters of switches with another program are not read before their wave.
    counters = CounterGate(FABRIC4, targets, [Rule.parse("drops")])
    run(counters.before())
    with pytest.raises(ApplyError, match="wave 3 of 4: it is raining"):
        run(
            applied(
                fakes,
                "drop_tail",
                rollout=Rollout(waves(FABRIC4, "rest"), gates=[Watching(closes_behind=3)]),
            )
        )
    cookies = [one.config.cookie.cookie for one in fakes.switches.values()]
    as_before = fakes.state() == before
    assert seen == [[False, True, True, True], [False, False, True, True], [False, False, False, True]]
    assert cookies == [7] * 4 and as_before


def test_what_others_write_to_an_earlier_wave_is_found_at_the_end_and_all_is_undone(fakes):
    run(applied(fakes, "drop_tail"))
    before = fakes.state()

    class Disturbed(Gate):
        async def after(self, number, waves, changed) -> None:
            if number == 2:
                fakes.switches["leaf1"].entries.popitem()

    with pytest.raises(ApplyError, match="leaf1: accepted every write, but 1 entries read back differ"):
        run(applied(fakes, "mark_threshold", rollout=Rollout(waves(FABRIC4, "rest"), gates=[Disturbed()])))
    assert fakes.state() == before


async def test_apply_that_is_stopped_in_a_pause_undoes_the_waves_before_it(fakes):
    await applied(fakes, "drop_tail")
    before = fakes.state()
    first = asyncio.Event()
    rollout = Rollout(waves(FABRIC4, "rest"), pause_seconds=3600)
    work = asyncio.create_task(
        applied(
            fakes,
            "mark_threshold",
            rollout=rollout,
            observer=lambda step, _: first.set() if step is Step.VERIFIED else None,
        )
    )
    await first.wait()
    work.cancel()
    with pytest.raises(ApplyCancelled, match="undone on leaf1: every switch is as it was before"):
        await work
    assert fakes.state() == before


def test_switch_outside_of_the_waves_that_would_have_to_be_written_stops_the_apply(fakes):
    with pytest.raises(NothingWritten, match=r"^leaf2, spine1, spine2: not as in the revision in force"):
        run(applied(fakes, "drop_tail", rollout=Rollout((("leaf1",),))))
    assert [one.pushes for one in fakes.switches.values()] == [0] * 4


# -- gates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo it rains; exit 3", "the gate `echo it rains; exit 3` is closed: it exited with 3: it rains"),
        ("exit 1", "the gate `exit 1` is closed: it exited with 1"),
        (
            "sleep 600 & sleep 600",
            "the gate `sleep 600 & sleep 600` did not end within 0.2 s and was killed; "
            "--gate-timeout sets another limit",
        ),
    ],
)
def test_command_that_fails_or_hangs_closes_the_gate_in_one_line(command, reason):
    with pytest.raises(GateClosed) as error:
        run(CommandGate(command, 0.2 if "600" in command else 60.0).before())
    assert str(error.value) == reason


def test_command_knows_the_wave_and_the_switches(tmp_path):
    told = tmp_path / "expected"
    command = f'echo "$EEON_WAVE/$EEON_WAVES $EEON_SWITCHES" > {told}'
    run(CommandGate(command, 60.0).after(2, 5, ["leaf1", "leaf2"]))
    assert told.read_text() == "2/5 leaf1 leaf2\n"


SCHEMA = program.load().schema()


async def looking(fakes, rule: str) -> CounterGate:
    """Returns a gate with this rule, after its first look."""
    await applied(fakes, "drop_tail")
    targets = {name: Target.parse(address) for name, address in fakes.targets.items()}
    fakes.switches["leaf1"].counters[SCHEMA.counters["verdicts"].id, cell("tail_dropped")] = (7, 700)
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
async def test_drops_are_those_since_the_apply_began(fakes, rule, verdict, packets, said):
    gate = await looking(fakes, rule)
    fakes.switches["leaf1"].counters[SCHEMA.counters["verdicts"].id, cell(verdict)] = (packets, 0)
    assert await second_look(gate) == said


async def test_byte_account_below_zero_closes_the_gate(fakes):
    gate = await looking(fakes, "account")
    fakes.switches["leaf2"].registers[SCHEMA.registers["occupancy_bytes"].id, 3] = 2**32 - 1500
    assert await second_look(gate) == "the gate is closed: leaf2:3: the byte account is -1500, below zero"


async def test_switch_that_cannot_be_read_any_more_closes_the_gate(fakes):
    gate = await looking(fakes, "drops")
    await fakes.switches["leaf2"].stop()
    assert (await second_look(gate)).startswith("the gate is closed: leaf2 (127.0.0.1:")


def looked(rules: list[str], first: Observation, now: Observation, monkeypatch) -> str:
    """Returns the message of a gate with these rules about two looks at leaf1."""
    looks = iter([FabricObservation({"leaf1": one}, {}) for one in (first, now)])

    async def read(self):
        return next(looks)

    monkeypatch.setattr(CounterGate, "_read", read)
    gate = CounterGate(FABRIC4, {}, [Rule.parse(one) for one in rules])

    run(gate.before())
    return run(second_look(gate))


def test_port_that_went_down_closes_the_gate_and_one_that_was_down_or_has_no_link_does_not(monkeypatch):
    first, now = {1: True, 3: False, 9: True}, {1: True, 3: False, 9: False}
    assert looked(["links"], Observation(0, ports=first), Observation(0, ports=now), monkeypatch) == ""
    gone = looked(["links"], Observation(0, ports=first), Observation(0, ports=now | {1: False}), monkeypatch)
    assert gone == "the gate is closed: down since the apply began: leaf1:1"


def test_pauses_count_both_ways_and_everything_that_is_wrong_is_said(monkeypatch):
    first = Observation(0, cells={("pauses_sent", 11): 5, ("lossless_dropped", 11): 0}, registers={})
    now = Observation(
        0, cells={("pauses_sent", 11): 7, ("pauses_received", 3): 2, ("lossless_dropped", 11): 9}
    )
    said = looked(["pauses=3", "account"], first, now, monkeypatch)
    assert said.startswith(
        "the gate is closed: 4 pauses since the apply began, more than 3; most (2) at leaf1 "
    )
    assert said.endswith("; leaf1: its byte account cannot be read")
