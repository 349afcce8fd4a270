"""The supervisor with switches in this process: tests of its internal state."""

import asyncio
import io
import json
import logging

import pytest
from eeon_control import config, state
from eeon_control.config import Bmv2QueueValues
from eeon_control.controller import State, log
from eeon_control.controller import messages as m
from eeon_control.targets import Target
from engine_switches import LocalFabric
from programs import another
from revisions import commit
from supervised import SECONDS, TOPOLOGY, committed, in_sync, supervised, until

pytestmark = pytest.mark.system


@pytest.fixture
def lines():
    """Yields a function that returns the log lines of some events; restores the process's logging afterwards."""
    stream = io.StringIO()
    root, ours = logging.getLogger(), logging.getLogger("eeon.controller")
    before = root.handlers[:], root.level, ours.level
    log.set_up("json", "debug", stream)
    yield lambda *events: [
        line for text in stream.getvalue().splitlines() if (line := json.loads(text))["event"] in events
    ]
    root.handlers[:], root.level, ours.level = before


async def test_port_that_goes_down_makes_it_look_at_the_switch_at_once(tmp_path, lines):
    async with supervised(tmp_path) as (fabric, supervisor):
        await until(lambda: supervisor.ports_down("leaf1") is not None)
        fabric.switches["leaf1"].engine.port_set_link(1, False)
        await until(lambda: lines("comparing"))
    assert [(line["port"], line["up"]) for line in lines("port")] == [("port1", False)]
    assert [line["reason"] for line in lines("comparing")] == ["port port1 went down"]


async def test_another_program_under_the_same_cookie_is_replaced(tmp_path):
    async with supervised(tmp_path) as (fabric, of):
        leaf1 = fabric.switches["leaf1"]
        meant, pushes = leaf1.config.SerializeToString(), leaf1.pushes
        leaf1.config.p4_device_config = another(leaf1.config, 0).p4_device_config
        of.look_now()
        await until(lambda: of.counts.restores["leaf1"].by_cause["program"] == 2)
        assert leaf1.pushes == pushes + 1
        assert leaf1.config.SerializeToString() == meant


async def test_revision_of_another_program_is_left_alone_until_an_apply_and_said_once(tmp_path, lines):
    async with supervised(tmp_path, look_seconds=0.05) as (fabric, of):
        revision = of.store.current()
        before = fabric.state()
        pushes = [one.pushes for one in fabric.switches.values()]
        theirs = revision.intent.model_copy(update={"program": "0" * 64})
        commit(of.store, theirs)
        await until(lambda: not of.links)
        leaf1 = fabric.switches["leaf1"]
        leaf1.remove(*leaf1.entries)
        for _ in range(3):
            await of._look()
        assert not of.links and not leaf1.entries
        commit(of.store, revision.intent)
        await until(lambda: set(of.states().values()) == {State.IN_SYNC})
        assert fabric.state() == before
        assert [one.pushes for one in fabric.switches.values()] == pushes
    (line,) = lines("program_pinned")
    assert line["reason"].startswith(
        "revision 2 pins the P4 program 000000000000, but this version of eeon has"
    )
    assert "`eeon config apply` loads it" in line["reason"] and "\n" not in line["reason"]


async def test_revision_from_which_this_version_makes_other_entries_is_said(tmp_path, lines):
    async with supervised(tmp_path) as (_, of):
        intent = of.store.current().intent
        theirs = intent.model_copy(update={"entries": intent.entries | {"leaf1": "0" * 64}})
        commit(of.store, theirs)
        await until(lambda: lines("other_entries"))
    (line,) = lines("other_entries")
    assert line["reason"].startswith("this version of eeon makes other entries from revision 2 than")


async def test_each_restore_is_one_line_that_says_what_was_wrong(tmp_path, lines):
    async with supervised(tmp_path) as (fabric, of):
        fabric.switches["leaf1"].lose_one()
        of.look_now()
        await until(lambda: of.counts.restores["leaf1"].by_cause["drift"] == 1)
    (restored,) = [line for line in lines("restored") if line["drift"]]
    assert restored["switch"] == "leaf1" and restored["entries"] == 1 and not restored["program_loaded"]
    assert sum(line["reason"].startswith("1 entry differs: ") for line in lines("writing")) == 1


async def test_switch_that_refuses_a_write_is_tried_again_and_the_others_are_not_held_up(tmp_path, lines):
    refuse = []

    def fault(update):
        return (13, "no memory left") if refuse else None

    async with supervised(tmp_path) as (fabric, of):
        leaf2 = fabric.switches["leaf2"]
        leaf2.fault = fault
        refuse.append(True)
        for one in fabric.switches.values():
            one.lose_one()
        of.look_now()
        others = [name for name in TOPOLOGY.switches if name != "leaf2"]
        await until(lambda: all(of.counts.restores[name].by_cause["drift"] for name in others))
        await until(lambda: of.links["leaf2"].machine.refusals >= 2)
        assert of.states()["leaf2"] is not State.IN_SYNC
        refuse.clear()
        await until(lambda: of.states()["leaf2"] is State.IN_SYNC)
    refused = lines("refused")
    assert {line["switch"] for line in refused} == {"leaf2"}
    assert "no memory left" in refused[0]["reason"]


async def test_what_cannot_be_read_back_is_set_again_whenever_the_switch_has_been_away(tmp_path, monkeypatch):
    """Queue depth and rate of BMv2, over Thrift."""
    told: list[tuple[str, dict]] = []

    async def set_queues(name, target, settings):
        told.append((name, dict(settings)))

    monkeypatch.setattr("eeon_control.controller.supervisor.thrift.set_queues", set_queues)
    with_queues = config.overridden(
        config.load("red_ack_syn"),
        {"target_settings.bmv2": {"queue_depth": "1024pkt", "packet_rate": "unlimited"}},
    )
    with LocalFabric(TOPOLOGY) as fabric:
        targets = {name: Target("127.0.0.1:1") for name in TOPOLOGY.switches}
        targets["leaf1"] = Target(fabric.targets["leaf1"], thrift="127.0.0.1:2")
        async with in_sync(committed(tmp_path / "state", targets, with_queues), ["leaf1"]) as supervisor:
            ports = [port.number for port in TOPOLOGY.switches["leaf1"].ports]
            once = [("leaf1", {port: Bmv2QueueValues(1024, 0) for port in ports})]
            assert told == once
            link = supervisor.links["leaf1"]
            link.tell(m.StreamLost(link.machine.connection, "the test says so"))
            await until(lambda: link.machine.connections_lost == 1)
            await until(lambda: supervisor.states()["leaf1"] is State.IN_SYNC)
    assert told == once * 2


async def test_damaged_or_moved_state_folder_is_said_once_and_the_switches_stay_as_they_are(tmp_path, lines):
    async with supervised(tmp_path, look_seconds=0.02) as (fabric, of):
        (of.store.folder / "current").write_text("nonsense")
        await until(lambda: not of.folder_readable)
        fabric.switches["leaf1"].lose_one()
        of.look_now()
        await until(lambda: of.counts.restores["leaf1"].by_cause["drift"] == 1)
        (of.store.folder / "current").write_text("1\n")
        await until(lambda: of.folder_readable)
        (of.store.folder / "controllers").rename(tmp_path / "controllers")
        await until(lambda: not of.folder_readable)
        (tmp_path / "controllers").rename(of.store.folder / "controllers")
        await until(lambda: of.folder_readable)
    told = lines("state_unreadable", "state_readable_again", "state_replaced")
    assert [line["event"] for line in told] == ["state_unreadable", "state_readable_again"] * 2
    assert "current: damaged" in told[0]["reason"]
    assert "controllers: cannot be read: No such file or directory" in told[2]["reason"]


async def test_controller_registers_in_the_folder_that_replaced_its_own_and_enforces_its_revision(
    tmp_path, lines
):
    async with supervised(tmp_path, look_seconds=0.02) as (_, of):
        folder, targets = of.store.folder, of.wanted.targets
        committed(tmp_path / "another", dict(targets), config.load("drop_tail"))
        folder.rename(tmp_path / "old")
        (tmp_path / "another").rename(folder)
        await until(lambda: set(of.store.controllers()) == {10})
        await until(lambda: all(of.counts.restores[name].by_cause["entries"] == 1 for name in targets))
    first, *then = (line["event"] for line in lines("revision", "state_replaced"))
    # A look that is under way reads the new revision first.
    assert first == "revision" and sorted(then) == ["revision", "state_replaced"]


@pytest.mark.usefixtures("lines")
def test_text_lines_quote_what_has_spaces():
    stream = io.StringIO()
    log.set_up("text", "info", stream)
    log.say(logging.INFO, "restored", switch="leaf1", seconds=1.5, drift=False, reason='a "b" c', comment="")
    log.say(logging.DEBUG, "unseen")
    stamp, line = stream.getvalue().split(" ", 1)
    assert line == 'info restored switch=leaf1 seconds=1.5 drift=false reason="a \\"b\\" c"\n'
    assert stamp.endswith("Z")


def test_store_counts_an_apply_that_was_undone(tmp_path):
    store = state.StateStore.open(tmp_path / "state")
    with store.lock("a test") as lock:
        store.end(lock, undone="refused")
        store.end(lock)
    assert store.applies() == {"committed": 0, "undone": 1}


@pytest.mark.parametrize("turns", range(5))
async def test_a_controller_that_is_stopped_as_an_event_arrives_ends(tmp_path, turns):
    async with supervised(tmp_path) as (_, supervisor):
        for link in supervisor.links.values():
            link.tell(m.Suspect("a test"))
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(SECONDS):
            for name in list(supervisor.links):
                await supervisor._stop(name)


@pytest.mark.parametrize("finder", ["the supervisor", "its own link"])
async def test_switch_that_a_revision_moves_is_kept_at_its_new_address(tmp_path, finder):
    async with supervised(tmp_path, look_seconds=3600) as (fabric, of):
        leaf1 = fabric.switches["leaf1"]
        old = leaf1._server
        leaf1.start("127.0.0.1:0")
        moved = {name: Target.parse(address) for name, address in fabric.targets.items()}
        committed(tmp_path / "state", moved, config.load("red_ack_syn"))
        if finder == "its own link":
            of.links["leaf1"].tell(m.Suspect("a test"))
            await until(lambda: of.wanted.revision.number == 2)
        of._nudge.set()
        await until(lambda: "leaf1" in of.links and of.links["leaf1"].target.address == leaf1.address)
        await until(lambda: set(of.states().values()) == {State.IN_SYNC} and len(of.links) == 4)
    old.stop(0)
