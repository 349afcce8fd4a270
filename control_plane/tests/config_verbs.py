"""A scenario with every verb of `eeon config` on real switches, as in an engineer's daily work.

The `leaf-spine-4` switches have no program, and are at the given addresses. Targets: engine and BMv2.
"""

import json
import os
from pathlib import Path

import eeon_command
from eeon_control import fabric, plan, program, topology
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.fabric import sync
from eeon_control.fabric.diff import Change, ChangeKind
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.plan import Action, Entry, Exact
from eeon_control.targets import Target


def eeon(*arguments: str, code: int = 0):
    return eeon_command.eeon("config", *arguments, code=code)


def write_behind_its_back(name: str, address: str) -> None:
    """Sets the buffer of port 1 of a switch to 5 bytes, as another controller."""
    entry = Entry("port_buffer", (Exact("port", 1),), (Action("set_buffer_limit", (("buffer_bytes", 5),)),))
    device_id = topology.load("leaf-spine-4").switches[name].device_id

    async def write():
        schema = program.load().schema()
        async with P4RuntimeSession(name, Target(address, device_id), schema, election_id=10) as session:
            await session.write_changes([Change(ChangeKind.MODIFY, None, entry)])

    sync.run(write())


def tell(folder: Path, addresses: dict[str, str], tick: str) -> None:
    """Runs every verb, starting with blank switches."""
    targets = folder / "targets.yaml"
    targets.write_text(json.dumps({"tick": tick, "switches": addresses}))
    fabric4 = topology.load("leaf-spine-4")
    place = ["-t", "leaf-spine-4", "-T", str(targets)]

    def held() -> dict[str, set[Entry]]:
        entries = sync.run(fabric.read_entries(fabric4, addresses))
        return {name: set(found) for name, found in entries.items()}

    # The first apply loads the program, and is revision 1.
    first = eeon("apply", *place, "-c", "red_ack_syn", "--comment", "as in the paper")
    assert "the program was loaded on 4" in first.stdout and "this is revision 1" in first.stdout
    assert "leaf1: read back as intended" in first.stderr
    red = held()

    # A plan is read, saved, and applied exactly.
    saved = str(folder / "plan.json")
    planned = eeon("plan", *place, "-c", "mark_threshold", "--out", saved, code=2)
    assert "leaf1:1-2, leaf2:1-2 (host-facing, 4 ports): AQM RED from " in planned.stdout
    assert "protects ECT, ACKs and SYNs -> mark above 30 KB" in planned.stdout
    assert held() == red
    # Without a targets file, the addresses of the switches come from the fabric's revision.
    known = ["-t", "leaf-spine-4", "--state", os.environ["EEON_STATE"]]
    assert eeon("plan", *known, "-c", "mark_threshold", code=2).stdout == planned.stdout
    assert "this is revision 2" in eeon("apply", saved).stdout
    threshold = held()
    assert threshold != red
    assert (
        "leaf1 has changed since: port 1: AQM RED from 13 to 38 packets"
        in eeon("apply", saved, code=1).stderr
    )

    # It is rolled back automatically unless confirmed; meanwhile, no other apply is possible.
    waiting = eeon("apply", *place, "-c", "drop_tail", "--confirm", "10m", "--detach")
    assert "it goes back to revision 2 in 10 min unless `eeon config confirm` keeps it" in waiting.stdout
    assert "revision 3 waits to be confirmed" in eeon("apply", *place, "-c", "red_ect", code=1).stderr
    assert eeon("confirm").stdout == "confirmed: revision 3 stays\n"
    assert "nothing waits to be confirmed" in eeon("confirm", code=1).stderr
    timed = eeon("apply", *place, "-c", "red_ack_syn", "--confirm", "1s", code=1)
    assert "revision 5: rollback to 3: revision 4 was not confirmed within 1 s" in timed.stderr
    assert "revision 4 was rolled back; revision 5 is in force" in timed.stderr

    # A rollback to any revision; the history only grows.
    assert "this is revision 6" in eeon("rollback", "2").stdout
    assert held() == threshold
    assert "this is revision 7" in eeon("rollback").stdout  # to the previous one: drop_tail again
    assert held() != threshold
    assert "there are 1 to 7" in eeon("rollback", "8", code=1).stderr
    history = json.loads(eeon("history", "-o", "json").stdout)
    assert [one["action"] for one in history["revisions"]] == [
        "rollback to 5",
        "rollback to 2",
        "rollback to 3: revision 4 was not confirmed within 1 s",
        "apply",
        "apply",
        "apply",
        "apply",
    ]
    assert history["revisions"][-1]["comment"] == "as in the paper"

    # A revision is a configuration file.
    shown = folder / "shown.yaml"
    shown.write_text(eeon("show", "2").stdout)
    assert "this is revision 8" in eeon("apply", *place, "-c", str(shown)).stdout
    assert held() == threshold
    assert "+        mode: drop_tail\n" in eeon("show", "--diff", "2", "3").stdout

    # Changes by others are drift, and are undone.
    assert eeon("drift").stdout == "no drift: 4 switches hold revision 8\n"
    write_behind_its_back("leaf2", addresses["leaf2"])
    drifted = eeon("drift", code=2)
    assert "the switches differ from revision 8:\nleaf2:1 (to h3): buffer 5 B -> 300 KB\n" in drifted.stdout
    assert json.loads(eeon("drift", "-o", "json", code=2).stdout)["lines"][0]["ports"] == ["leaf2:1"]
    assert "1 of 4 switches changed" in eeon("rollback", "8").stdout
    assert held() == threshold
    # All except the clone session of copies, which only a configuration with QCN has.
    assert set(plan.TABLES) - {CLONE_SESSIONS} == {entry.table for entry in held()["leaf1"]}
