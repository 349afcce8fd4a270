"""Another controller on the same engine switches: a role, another owner's program, foreign entries."""

import asyncio
from functools import partial

import pytest
from eeon_control import operations, program, state, topology
from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from finsy.proto import p4r
from other_program import breaks_once
from programs import beside_a_tenant
from revisions import done, meant
from supervised import in_sync, until

pytestmark = pytest.mark.system


FABRIC4 = topology.load("leaf-spine-4")
SCHEMA = program.load().schema()
TENANT_TABLE = 0x02ABCDEF


@pytest.fixture
def shared(switches4):
    """Returns four switches with a program that has a table for a tenant."""
    for switch in switches4.switches.values():
        switch.load(beside_a_tenant(SCHEMA.get_pipeline_config()))
    return switches4


class Controller:
    """Runs `eeon config` on one state folder, for switches with the role of the controller."""

    def __init__(self, folder, switches, **more) -> None:
        self.store = state.StateStore.open(folder / "state")
        self.meant = partial(meant, FABRIC4, switches=switches.targets, role="eeon", **more)

    def apply(self, *names: str) -> operations.Outcome:
        return done(self.store, operations.apply, self.meant(names))

    def has_drifted(self) -> bool:
        return not run(operations.drift(self.store)).plan.is_empty


def tenant_entry(port: int, limit: int) -> p4r.TableEntry:
    """Returns an entry of the tenant's table, which has the form of `port_buffer`."""
    entry = buffer_entry(port, limit)
    entry.table_id = TENANT_TABLE
    return entry


def buffer_entry(port: int, limit: int) -> p4r.TableEntry:
    entry = p4r.TableEntry(table_id=SCHEMA.tables["port_buffer"].id)
    entry.match.add(field_id=1).exact.value = port.to_bytes(2, "big").lstrip(b"\0")
    entry.action.action.action_id = SCHEMA.actions["set_buffer_limit"].id
    entry.action.action.params.add(param_id=1, value=bytes([limit]))
    return entry


def held(fabric, table: str | int) -> dict[str, set[bytes]]:
    return {
        name: {entry.SerializeToString() for entry in switch.of_table(table)}
        for name, switch in fabric.switches.items()
    }


def test_tables_of_others_are_no_drift_and_stay_through_applies_and_their_undoing(
    shared, tmp_path, monkeypatch
):
    for switch in shared.switches.values():
        switch.insert(tenant_entry(1, 7), tenant_entry(2, 8))
    theirs = held(shared, TENANT_TABLE)
    ours = Controller(tmp_path, shared)
    assert not any(one.push_pipeline for one in ours.apply("drop_tail").report.plan.switches.values())
    assert not ours.has_drifted()
    ours.apply("mark_threshold")
    with monkeypatch.context() as patch, pytest.raises(FabricError, match="every switch is as it was before"):
        breaks_once("spine1", patch)
        ours.apply("red_ack_syn")
    assert not ours.has_drifted()
    assert held(shared, TENANT_TABLE) == theirs


def test_undone_apply_leaves_what_another_controller_wrote_meanwhile(shared, tmp_path, monkeypatch):
    ours = Controller(tmp_path, shared, foreign="keep")
    ours.apply("drop_tail")
    send = P4RuntimeSession.write_changes

    async def disturb(self, changes):
        if self.name == "spine1":
            shared.switches["leaf1"].insert(buffer_entry(99, 7))
            raise self._error("refused a write: the test says so")
        await send(self, changes)

    with monkeypatch.context() as patch, pytest.raises(FabricError, match="every switch is as it was before"):
        patch.setattr(P4RuntimeSession, "write_changes", disturb)
        ours.apply("mark_threshold")
    found = held(shared, "port_buffer")
    assert len(found["leaf1"]) == len(found["leaf2"]) + 1


async def test_supervisor_with_a_role_mends_its_entries_alone(shared, tmp_path):
    ours = Controller(tmp_path, shared, foreign="keep")
    await asyncio.to_thread(ours.apply, "drop_tail")
    async with in_sync(ours.store) as supervisor:
        leaf1 = shared.switches["leaf1"]
        before = leaf1.state()
        leaf1.insert(tenant_entry(1, 7), buffer_entry(99, 7))
        theirs = leaf1.state()
        leaf1.modify(buffer_entry(1, 7))
        supervisor.look_now()
        await until(lambda: "leaf1" in supervisor.counts.restores)
        assert leaf1.state() == theirs != before
    restores = supervisor.counts.restores["leaf1"]
    assert (restores.by_cause, restores.entries) == ({"drift": 1}, 1)
