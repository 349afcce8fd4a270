"""Rollback on fake switches: its target, the switches' present addresses, and the messages."""

import json
import re

import pytest
from eeon_command import eeon
from eeon_control import operations, state, topology
from eeon_control.errors import StateError
from eeon_control.fabric import sync
from revisions import done, meant

pytestmark = pytest.mark.system

FABRIC = topology.load("leaf-spine-4")


@pytest.fixture
def store(state_folder):
    return state.StateStore.open(state_folder)


def apply(store, fakes, name: str, of=FABRIC, at: dict[str, str] | None = None, **how):
    return done(store, operations.apply, meant(of, name, fakes.targets, **(at or {})), **how)


def rollback(store, number=None, **work):
    return done(store, operations.rollback, number, **work)


TWIN, LIVE = {"clock": "virtual"}, {"topology": "/run/live.yaml"}


def slower() -> topology.Topology:
    """Returns the same links at a tenth of their rates, as in a live fabric."""
    rates = {"10Gbps": "1Gbps", "1Gbps": "100Mbps"}
    text = json.dumps(dict(FABRIC.document))
    for rate, tenth in reversed(rates.items()):
        text = text.replace(f'"{rate}"', f'"{tenth}"')
    return topology.from_value(json.loads(text), "slower")


FIRST, SECOND = {"name": "drop_tail"}, {"name": "mark_threshold"}
UNCONFIRMED = {"name": "codel", "confirm_seconds": 600}
OTHERS = (FIRST | {"at": TWIN}, SECOND | {"at": LIVE, "of": slower()}, SECOND | {"at": TWIN})


@pytest.mark.parametrize(
    ("applied", "to", "told"),
    [
        ([FIRST, SECOND], [None, None], ["rollback to 1", "rollback to 2"]),
        # What nobody confirmed is passed over.
        ([FIRST, SECOND, UNCONFIRMED], [None, None], ["rollback to 2, instead of 3", "rollback to 1"]),
        ([FIRST, SECOND, UNCONFIRMED], [1, None], ["rollback to 1, instead of 3", "rollback to 2"]),
        (
            [FIRST, UNCONFIRMED],
            [None, None],
            ["rollback to 1, instead of 2", "no revision before the current one, 3, to roll back to"],
        ),
        ([], [None], ["no revision yet"]),
        ([FIRST], [None], ["no revision before the current one, 1"]),
        # Revisions of another fabric are passed over, and refused by number.
        (OTHERS, [None], ["rollback to 1"]),
        (OTHERS, [2], ["revision 2 was made for another fabric (live fabric, tick 1ns)"]),
        (
            [SECOND | {"at": LIVE}, SECOND | {"at": LIVE, "of": slower()}],
            [1],
            ["another scale of the fabric: leaf1:1 had 1Gbps, now has 100Mbps"],
        ),
    ],
)
def test_rollback_goes_back_to_what_somebody_confirmed_for_this_fabric_or_writes_nothing(
    store, fakes, applied, to, told
):
    for one in applied:
        apply(store, fakes, **one)
    for number, says in zip(to, told, strict=True):
        held, current = fakes.state(), store.current_number()
        if says.startswith("rollback"):
            done = rollback(store, number).revision
            assert says == done.action + (f", instead of {done.instead_of}" if done.instead_of else "")
            assert (
                store.current().intent.configuration
                == store.revision(int(says.split()[2].rstrip(","))).intent.configuration
            )
            continue
        with pytest.raises(StateError, match=re.escape(says)):
            rollback(store, number)
        assert (fakes.state(), store.current_number()) == (held, current)


def test_bare_rollback_that_finds_the_time_to_confirm_over_goes_back_once_and_not_twice(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=0.001)
    first = eeon("config", "rollback", "-q", code=1)
    assert "revision 4: rollback to 2: revision 3 was not confirmed" in first.stderr
    assert "has just put revision 4 in force, and nothing was rolled back" in first.stderr
    assert store.current_number() == 4
    eeon("config", "rollback", "-q", code=0)
    assert store.current().action == "rollback to 1"


def test_rollback_to_a_number_is_done_also_when_the_time_to_confirm_is_over(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=0.001)
    eeon("config", "rollback", "-q", "1", code=0)
    assert (store.current_number(), store.current().action) == (5, "rollback to 1")


def test_switch_that_moved_since_is_looked_for_where_the_newest_revision_has_it(store, fakes):
    apply(store, fakes, "drop_tail")
    leaf1 = fakes.switches["leaf1"]
    before = leaf1.address
    sync.run(leaf1.stop())
    sync.run(leaf1.__aenter__())
    assert leaf1.address != before
    apply(store, fakes, "mark_threshold")
    rollback(store, 1)
    assert store.current().intent.targets["switches"]["leaf1"] == leaf1.address


def test_revision_that_means_other_entries_by_now_is_told(store, fakes):
    apply(store, fakes, "drop_tail")
    assert not sync.run(operations.drift(store)).made_otherwise
    apply(store, fakes, "mark_threshold")
    for number in (1, 2):
        path = store.folder / "revisions" / f"{number}.json"
        digest = store.revision(number).intent.entries["leaf1"]
        path.write_text(path.read_text().replace(digest, "0" * 64))
    told = "this version of eeon makes other entries from revision {} than the version that made it"
    assert sync.run(operations.drift(store)).made_otherwise == told.format(2)
    there = ("--state", str(store.folder))
    assert told.format(2) in eeon("config", "drift", *there).stderr
    assert json.loads(eeon("config", "drift", "-o", "json", *there).stdout)["made_otherwise"] is True
    said: list[str] = []
    rollback(store, 1, say=said.append)
    assert said == [told.format(1)]
    rollback(store, 3, say=said.append)
    assert len(said) == 1


def test_folder_of_another_fabric_is_refused(store, fakes):
    apply(store, fakes, "drop_tail")
    other = topology.load("leaf-spine-160")
    addresses = dict.fromkeys(other.switches, "127.0.0.1:1")
    with pytest.raises(
        StateError, match=r"is the state of fabric leaf-spine-4, .* for leaf-spine-160; give another"
    ):
        done(store, operations.apply, meant(other, "drop_tail", addresses))


def test_a_targets_file_says_which_fabric_a_rollback_is_for(store, fakes, tmp_path):
    links = tmp_path / "links.json"
    links.write_text(json.dumps(dict(slower().document)))
    live = {"topology": str(links)}
    apply(store, fakes, "drop_tail", of=slower(), at=live)
    apply(store, fakes, "mark_threshold", at=TWIN)
    file = tmp_path / "targets.yaml"
    file.write_text(json.dumps({"tick": "1ns", "switches": fakes.targets, **live}))
    words = ["config", "rollback", "1", "-q", "--dry-run"]
    refused = eeon(*words, code=1)
    assert "another fabric (live fabric, tick 1ns)" in refused.output
    dry = eeon(*words, "-T", str(file), code=2)
    assert "back to revision 1:" in dry.output, dry.output
    addresses = [word for name, at in fakes.targets.items() for word in ("--target", f"{name}={at}")]
    eeon(*words, *addresses, code=1)


def test_apply_that_would_go_back_to_another_fabric_asks_for_no_confirmation(store, fakes):
    apply(store, fakes, "drop_tail", at=LIVE)
    with pytest.raises(StateError, match="apply once without --confirm"):
        apply(store, fakes, "mark_threshold", at=TWIN, confirm_seconds=600)


def test_history_shows_which_revision_is_for_which_fabric(store, fakes):
    apply(store, fakes, "drop_tail", at=TWIN)
    assert "for" not in eeon("config", "history").stdout.split("\n")[0].split()
    apply(store, fakes, "mark_threshold", of=slower(), at=LIVE)
    lines = eeon("config", "history").stdout.splitlines()
    assert "live fabric, tick 1ns" in lines[1] and "twin, tick 1ns" in lines[2]
    told = json.loads(eeon("config", "history", "--json").stdout)
    assert [one["made_for"] for one in told["revisions"]] == ["live fabric, tick 1ns", "twin, tick 1ns"]
