"""Links between switches that fail: `eeon controller run` withdraws the routes over them, and restores them.

On the engine, and on BMv2 if it is on PATH and the test runs as root, because its ports need interfaces.
"""

import json
import signal

import eeon_command
import pytest
from bmv2_ports import skip_without_bmv2_on_interfaces, veth_pairs
from controller_process import ControllerProcess
from eeon_control import operations, program, state, topology
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from eeon_control.plan import Action, Entry, Exact
from eeon_control.targets import Target
from revisions import done
from switch_processes import meant_for, running

pytestmark = pytest.mark.system

TOPOLOGY = topology.load("leaf-spine-4")
NAMES = list(TOPOLOGY.switches)
LOST = 2  # spine1's port to leaf2
TO_LEAF2 = "10.0.2.0/24"
FOREIGN = Entry("port_buffer", (Exact("port", 400),), (Action("set_buffer_limit", (("buffer_bytes", 5),)),))


@pytest.fixture(scope="module", params=["engine", "bmv2"])
def switches(request):
    if request.param == "engine":
        with running("engine", TOPOLOGY) as found:
            yield found
        return
    skip_without_bmv2_on_interfaces()
    with (
        veth_pairs(1) as [(name, _)],
        running("bmv2", TOPOLOGY, interfaces={"spine1": {LOST: name}}) as found,
    ):
        yield found


@pytest.fixture
def store(tmp_path, switches, monkeypatch):
    """Returns a state folder whose first revision the switches hold."""
    monkeypatch.setenv("EEON_STATE", str(tmp_path / "state"))
    found = state.StateStore.open(tmp_path / "state")
    done(found, operations.apply, meant_for(switches, TOPOLOGY, "drop_tail", thrift=True))
    return found


@pytest.fixture
def controller(store):
    with ControllerProcess(store.folder) as started:
        yield started


def eeon(*words: str) -> dict:
    result = eeon_command.eeon(*words, "-o", "json")
    return {"exit_code": result.exit_code, **json.loads(result.stdout)}


def routes_to_leaf2() -> dict[str, tuple[str, str]]:
    """Returns switch -> next hops and state of its route to leaf2's prefix."""
    rows = eeon("show", "routes")["rows"]
    return {row["switch"]: (row["next_hops"], row["state"]) for row in rows if row["prefix"] == TO_LEAF2}


async def write(address: str, change: Change) -> None:
    async with P4RuntimeSession("leaf1", Target(address, 1), program.load().schema(), election_id=10) as one:
        await one.write_changes([change])


def test_routes_over_a_spine_that_lost_its_link_to_a_leaf_are_withdrawn_and_come_back(switches, controller):
    controller.wait_for_all("in_sync", NAMES)
    whole = {"leaf1": ("3 spine1, 4 spine2", "ok"), "spine1": ("2 leaf2", "ok"), "spine2": ("2 leaf2", "ok")}
    assert routes_to_leaf2() == whole

    switches["spine1"].set_link(LOST, up=False)
    controller.wait_for_all("restored", ["leaf1", "leaf2", "spine1"])
    lost = "spine1:2 to leaf2 is down"
    assert routes_to_leaf2() == {
        "leaf1": ("4 spine2", f"withdrawn: 3 spine1, because {lost}"),
        "spine1": ("", f"withdrawn: 2 leaf2, because {lost}"),
        "spine2": ("2 leaf2", "ok"),
    }
    to_leaf1 = [row for row in eeon("show", "routes", "leaf2")["rows"] if row["prefix"] == "10.0.1.0/24"]
    assert [row["next_hops"] for row in to_leaf1] == ["4 spine2"]
    ports = {row["port"]: row["link"] for row in eeon("show", "ports", "--only", "down")["rows"]}
    assert ports == {"leaf2:3": "down", "spine1:2": "down"}, "both ends of the link"
    paths = eeon("show", "path", "h1", "h3")
    assert [path["nodes"] for path in paths["paths"]] == [["h1", "leaf1", "spine2", "leaf2", "h3"]]
    drift = eeon("config", "drift")
    assert drift["exit_code"] == 0 and len(drift["withdrawn"]) == 3, drift

    switches["spine1"].set_link(LOST, up=True)
    controller.wait_for_all("restored", ["leaf1", "leaf2", "spine1"])
    assert routes_to_leaf2() == whole
    assert eeon("config", "drift")["withdrawn"] == []


@pytest.mark.parametrize("switches", ["engine"], indirect=True)
def test_controller_that_starts_while_a_link_is_down_puts_no_dead_next_hop_back(switches, store, controller):
    controller.wait_for_all("in_sync", NAMES)
    switches["spine1"].set_link(LOST, up=False)
    try:
        controller.wait_for_all("restored", ["leaf1", "leaf2", "spine1"])
        controller.end(signal.SIGKILL)
        run(write(switches["leaf1"].address, Change(ChangeKind.INSERT, None, FOREIGN)))
        drift = eeon("config", "drift")
        found = [(name, one["match"]) for name, of in drift["switches"].items() for one in of["changes"]]
        assert found == [("leaf1", "port=400")] and len(drift["withdrawn"]) == 3, drift
        run(write(switches["leaf1"].address, Change(ChangeKind.DELETE, FOREIGN, None)))
        with ControllerProcess(store.folder) as second:
            second.wait_for_all("in_sync", NAMES)
            assert not second.events("writing")
    finally:
        switches["spine1"].set_link(LOST, up=True)
