"""Apply and undo on switches in this process; more is in `expected/scenarios/differences.yaml`."""

import pytest
from eeon_control import config, fabric, operations, program, state, topology
from eeon_control.errors import FabricError
from eeon_control.fabric import routes
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.targets import Target
from engine_switches import LocalFabric
from revisions import meant

pytestmark = pytest.mark.system

TICK_PS = 1000


def red():
    return config.load("red_ack_syn", "eee_120us100")


async def test_a_switch_in_this_process_may_answer_later_than_any_deadline(
    fabric4, switches4, answers_within
):
    answers_within(1e-6)
    own = {name: Target(address, in_process=True) for name, address in switches4.targets.items()}
    await fabric.apply(fabric4, red(), own, TICK_PS)
    assert (await fabric.plan(fabric4, red(), own, TICK_PS)).is_empty
    with pytest.raises(FabricError, match="no answer within"):
        await fabric.plan(fabric4, red(), switches4.targets, TICK_PS)


def controller_of_leaf1(switches4, election_id: int) -> P4RuntimeSession:
    """Returns another controller's session with leaf1, not yet open."""
    target = Target(switches4.targets["leaf1"], device_id=1)
    return P4RuntimeSession("leaf1", target, program.load().schema(), election_id=election_id)


async def test_apply_bids_again_when_a_controller_of_its_folder_bid_before_it_saw_the_command(
    fabric4, switches4, tmp_path, monkeypatch
):
    store = state.StateStore.open(tmp_path / "state")
    bids = iter([10, 12])
    monkeypatch.setattr(state.StateStore, "highest_bid", lambda self: next(bids))
    async with controller_of_leaf1(switches4, 12):
        with store.lock("eeon config apply") as lock:
            work = operations.Work(store, lock)
            applied = await operations.apply(work, meant(fabric4, red(), switches4.targets))
    assert applied.revision.number == 1


async def test_long_writes_go_in_parts_so_that_each_meets_the_deadline():
    big = topology.load("leaf-spine-160")
    with LocalFabric(big) as served:
        await fabric.apply(big, red(), served.targets, TICK_PS)
    assert len(served.switches["leaf1"].entries) == (40 + 3) * 2 + 42 * 4
    assert max(one.largest_write for one in served.switches.values()) <= 256


async def test_a_next_hop_over_port_0_watches_it_too():
    zero = topology.from_text(
        """
        name: zero
        defaults: {rate: 10Gbps, delay: 500ns}
        nodes: {leaf1: {kind: switch}, leaf2: {kind: switch}, h1: {kind: host}, h2: {kind: host}}
        links:
          - endpoints: ["leaf1:0", "leaf2:0"]
          - endpoints: ["leaf1:4", "leaf2:4"]
          - endpoints: ["leaf1:8", "h1:0"]
          - endpoints: ["leaf2:8", "h2:0"]
        """,
        "zero.yaml",
    )
    with LocalFabric(zero) as served:
        await fabric.apply(zero, red(), served.targets, TICK_PS)
        planned = await fabric.plan(zero, red(), served.targets, TICK_PS)
        async with controller_of_leaf1(served, 99) as session:
            found = await routes.routes_of(session)
    leaf1 = served.switches["leaf1"]
    groups = [
        route.action.action_profile_action_set.action_profile_actions
        for route in (*leaf1.of_table("ipv4_route"), *leaf1.of_table("ipv6_route"))
    ]
    # Skipping the only next hop would gain nothing.
    watched = sorted([one.watch_port for one in group] for group in groups)
    assert watched == [[b""]] * 2 + [[b"\0", b"\x04"]] * 2
    assert planned.is_empty
    watching = [sorted(dict(one.params)["port"] for one in route.watching) for route in found.routes]
    assert sorted(watching) == [[], [], [0, 4], [0, 4]]
