"""Apply and undo on fake switches over real gRPC. The effect of entries in switches is not tested here."""

import asyncio

import pytest
from eeon_control import config, fabric, operations, program, state, topology
from eeon_control.constants import VERDICTS
from eeon_control.errors import FabricError
from eeon_control.fabric import routes, sync
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.targets import Target
from fake_p4runtime import FakeFabric
from finsy.proto import p4r
from programs import commented, without_table
from revisions import meant

pytestmark = pytest.mark.system

TICK_PS = 1000


def red():
    return config.load("red_ack_syn", "eee_120us100")


def threshold():
    return config.load("mark_threshold", "eee_standard")


def run(work):
    """Runs on the loop of the sync calls: grpc.aio does not support several per process (fabric/sync.py)."""
    return sync.run(asyncio.wait_for(work, 60))


def test_apply_to_blank_switches_loads_the_program_and_every_intended_entry(fabric4, fakes):
    report = run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    again = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    entries = {name: len(one.entries) for name, one in fakes.switches.items()}
    assert all(plan.push_pipeline for plan in report.plan.switches.values())
    # The program's own defaults do not count as changes; the seed of the hash does.
    modified = [change for change in report.plan.switches["leaf1"].changes if change.kind.value == "modify"]
    assert [change.entry.table for change in modified] == ["switch_config"]
    # leaf: (2 host + 1 leaf routes) x 2 families + 4 ports x 4 tables; spine: 2 x 2 + 2 x 4
    assert entries == {"leaf1": 22, "leaf2": 22, "spine1": 12, "spine2": 12}
    assert again.is_empty


def test_a_switch_in_this_process_may_answer_later_than_any_deadline(fabric4, fakes, answers_within):
    answers_within(1e-6)
    own = {name: Target(address, in_process=True) for name, address in fakes.targets.items()}
    run(fabric.apply(fabric4, red(), own, TICK_PS))
    assert run(fabric.plan(fabric4, red(), own, TICK_PS)).is_empty
    with pytest.raises(FabricError, match="no answer within"):
        run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))


def test_change_of_aqm_modifies_entries_in_place_and_keeps_the_program(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    report = run(fabric.apply(fabric4, threshold(), fakes.targets, TICK_PS))
    pushes = [one.pushes for one in fakes.switches.values()]
    assert pushes == [1, 1, 1, 1]
    leaf = report.plan.switches["leaf1"]
    assert {(change.kind.value, change.entry.table) for change in leaf.changes} == {
        ("modify", "port_aqm"),
        ("modify", "port_eee"),
    }
    assert len(leaf.changes) == 8


def test_stale_entries_of_our_tables_are_deleted(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    schema = program.load().schema()
    table = schema.tables["ipv4_route"]
    stale = p4r.TableEntry(table_id=table.id)
    stale.match.add(field_id=1).lpm.CopyFrom(p4r.FieldMatch.LPM(value=bytes([192, 0, 2, 0]), prefix_len=24))
    action = stale.action.action_profile_action_set.action_profile_actions.add(weight=1).action
    action.action_id = schema.actions["to_cpu"].id
    fakes.switches["leaf2"].entries[b"stale"] = stale
    plan = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    fakes.switches["leaf2"].entries[
        p4r.TableEntry(table_id=table.id, match=stale.match).SerializeToString(deterministic=True)
    ] = fakes.switches["leaf2"].entries.pop(b"stale")
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    before, after = plan, run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    [change] = before.switches["leaf2"].changes
    assert (change.kind.value, change.entry.match_text) == ("delete", "dst=192.0.2.0/24")
    assert change.entry.action_text == "to_cpu()"
    assert after.is_empty


def test_default_action_changed_by_somebody_else_is_found_and_put_back(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    schema = program.load().schema()
    table = schema.tables["port_buffer"].id
    changed = p4r.TableEntry(table_id=table, is_default_action=True)
    changed.action.action.action_id = schema.actions["set_buffer_limit"].id
    changed.action.action.params.add(param_id=1, value=b"\x07")
    fakes.switches["spine1"].defaults[table] = changed
    report = run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    [change] = report.plan.switches["spine1"].changes
    assert change.before.action_text == "set_buffer_limit(buffer_bytes=7)"
    assert change.after.action_text == "set_buffer_limit(buffer_bytes=4294967295)"


def test_program_that_only_a_comment_tells_apart_is_not_loaded_again(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    for one in fakes.switches.values():
        one.config.p4_device_config = commented(one.config.p4_device_config)
        one.config.cookie.cookie = 7
    status = run(fabric.read_status(fabric4, fakes.targets))
    plan = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    assert plan.is_empty
    assert set(status.values()) == {"ready"}


@pytest.mark.parametrize("refuses", [False, True])
def test_program_that_only_adds_a_table_keeps_the_entries_where_the_switch_can(fabric4, refuses, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    before = fakes.state()
    for one in fakes.switches.values():
        one.config = without_table(one.config, "port_pfc")
        one.defaults.pop(program.load().schema().tables["port_pfc"].id)
        one.refuses_to_reconcile = refuses
        one.updates.clear()
    plan = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    assert fakes.state() == before
    updates = [len(one.updates) for one in fakes.switches.values()]
    assert all(one.push_pipeline and one.keep_entries for one in plan.switches.values())
    assert not any(one.changes for one in plan.switches.values())
    assert all(updates) if refuses else not any(updates)


def controller_of_leaf1(fakes, election_id: int) -> P4RuntimeSession:
    """Returns another controller's session with leaf1, not yet open."""
    target = Target(fakes.targets["leaf1"], device_id=1)
    return P4RuntimeSession("leaf1", target, program.load().schema(), election_id=election_id)


async def test_larger_election_id_takes_over(fabric4, fakes):
    async with controller_of_leaf1(fakes, 99):
        report = await fabric.apply(fabric4, red(), fakes.targets, TICK_PS, election_id=100)
    # 99, the largest id seen, has no stream; the default id still leads to a primary
    again = await fabric.apply(fabric4, threshold(), fakes.targets, TICK_PS)
    assert not report.plan.is_empty and not again.plan.is_empty


async def test_apply_bids_again_when_a_controller_of_its_folder_bid_before_it_saw_the_command(
    fabric4, fakes, tmp_path, monkeypatch
):
    store = state.StateStore.open(tmp_path / "state")
    bids = iter([10, 12])
    monkeypatch.setattr(state.StateStore, "highest_bid", lambda self: next(bids))
    async with controller_of_leaf1(fakes, 12):
        with store.lock("eeon config apply") as lock:
            work = operations.Work(store, lock)
            applied = await operations.apply(work, meant(fabric4, red(), fakes.targets))
    assert applied.revision.number == 1


def test_wrong_device_id_is_reported_by_name(fabric4, fakes):
    targets = {**fakes.targets, "leaf1": fakes.targets["leaf1"] + "?device_id=77"}
    with pytest.raises(FabricError, match=r"leaf1 .*device id 77.*unknown device 77"):
        run(fabric.plan(fabric4, red(), targets, TICK_PS))


def test_targets_must_name_every_switch_and_no_other(fabric4):
    said = r"no target for leaf2, spine1, spine2; .* has no switch leaf9; give each switch an address"
    with pytest.raises(FabricError, match=said):
        fabric.plan_sync(fabric4, red(), {"leaf1": "127.0.0.1:1", "leaf9": "127.0.0.1:2"}, TICK_PS)
    with pytest.raises(FabricError, match="leaf1: 'nowhere': write a target as host:port"):
        fabric.plan_sync(fabric4, red(), dict.fromkeys(fabric4.switches, "nowhere"), TICK_PS)


async def test_long_writes_go_in_parts_so_that_each_meets_the_deadline():
    big = topology.load("leaf-spine-160")
    async with FakeFabric(big) as fakes:
        await fabric.apply(big, red(), fakes.targets, TICK_PS)
    assert len(fakes.switches["leaf1"].entries) == (40 + 3) * 2 + 42 * 4
    assert max(one.largest_write for one in fakes.switches.values()) <= 256


def test_counters_are_read_by_port_class_and_verdict(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    schema = program.load().schema()
    leaf = fakes.switches["leaf1"]
    leaf.counters[schema.counters["verdicts"].id, 3 << 7 | 0 << 4 | 1] = (5, 7500)  # data, marked
    leaf.counters[schema.counters["received"].id, 2 << 3 | 4] = (1, 60)  # syn_ack
    counters = run(fabric.read_counters(fabric4, fakes.targets))
    assert [one for one in counters.verdicts if one.packets] == [
        fabric.VerdictCount("leaf1", 3, "data", "marked", 5, 7500)
    ]
    assert [one for one in counters.received if one.packets] == [
        fabric.ReceivedCount("leaf1", 2, "syn_ack", 1, 60)
    ]
    assert len(counters.verdicts) == 12 * 8 * len(VERDICTS)  # 12 linked ports


def test_registers_are_read_by_name_and_a_target_without_them_is_named(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    schema = program.load().schema()
    fakes.switches["spine2"].registers[schema.registers["lpi_ticks"].id, 1] = 1 << 40
    values = run(fabric.read_registers(fabric4, fakes.targets, ["lpi_ticks", "wakes"]))
    with pytest.raises(FabricError, match="no register nonsense"):
        run(fabric.read_registers(fabric4, fakes.targets, ["nonsense"]))
    fakes.switches["spine2"].refuse_registers = True
    with pytest.raises(FabricError, match="spine2: this target serves no registers over P4Runtime"):
        run(fabric.read_registers(fabric4, fakes.targets, ["wakes"]))
    assert values["spine2", 1] == {"lpi_ticks": 1 << 40, "wakes": 0}
    assert len(values) == 12


def test_reading_counters_of_a_switch_without_the_program_says_so(fabric4, fakes):
    with pytest.raises(FabricError, match="leaf1: does not run this program"):
        run(fabric.read_counters(fabric4, fakes.targets))


def groups_of_leaf1(fakes) -> list:
    """Returns the next hops of each route of leaf1 with a group."""
    return [
        entry.action.action_profile_action_set.action_profile_actions
        for entry in fakes.switches["leaf1"].entries.values()
        if entry.action.HasField("action_profile_action_set")
    ]


def test_next_hops_of_a_group_watch_their_ports_and_one_that_does_not_is_mended(fabric4, fakes):
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    groups = groups_of_leaf1(fakes)
    watched = sorted([one.watch_port for one in group] for group in groups)
    next(group for group in groups if len(group) == 2)[0].watch_port = b""
    drifted = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    run(fabric.apply(fabric4, red(), fakes.targets, TICK_PS))
    mended = run(fabric.plan(fabric4, red(), fakes.targets, TICK_PS))
    # Skipping the only next hop would gain nothing.
    assert watched == [[b""]] * 4 + [[b"\x03", b"\x04"]] * 2
    (change,) = drifted.switches["leaf1"].changes
    assert "watch_port=none" in change.before.action_text and "watch_port" not in change.after.action_text
    assert mended.is_empty


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
    async with FakeFabric(zero) as fakes:
        await fabric.apply(zero, red(), fakes.targets, TICK_PS)
        planned = await fabric.plan(zero, red(), fakes.targets, TICK_PS)
        async with controller_of_leaf1(fakes, 99) as session:
            found = await routes.routes_of(session)
    watched = sorted([one.watch_port for one in group] for group in groups_of_leaf1(fakes))
    assert watched == [[b""]] * 2 + [[b"\0", b"\x04"]] * 2
    assert planned.is_empty
    watching = [sorted(dict(one.params)["port"] for one in route.watching) for route in found.routes]
    assert sorted(watching) == [[], [], [0, 4], [0, 4]]
