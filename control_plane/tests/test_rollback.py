"""Going back, against fake switches: to what, where the switches are by then, and what is said."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from eeon_control import config, operations, state, topology
from eeon_control.cli import main
from eeon_control.errors import StateError
from eeon_control.fabric import Targets, sync
from fake_p4runtime import FakeFabric

pytestmark = pytest.mark.system

FABRIC = topology.load("leaf-spine-4")


@pytest.fixture
def fakes():
    fabric = FakeFabric(FABRIC)
    sync.run(fabric.__aenter__())
    yield fabric
    sync.run(fabric.__aexit__())


@pytest.fixture
def store(state_folder):
    return state.StateStore.open(state_folder)


def targets(fakes) -> Targets:
    return Targets.from_value({"tick": "1ns", "switches": fakes.targets}, "test")


def apply(store, fakes, name: str, **how):
    with store.lock("test") as lock:
        meant = state.Intended(FABRIC, config.load(name), targets(fakes))
        return sync.run(operations.apply(operations.Work(store, lock), meant, **how))


def rollback(store, number=None, **work):
    with store.lock("test") as lock:
        return sync.run(operations.rollback(operations.Work(store, lock, **work), number))


def test_rollback_without_a_number_goes_to_the_one_before_and_again_back(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    assert rollback(store).revision.action == "rollback to 1"
    assert rollback(store).revision.action == "rollback to 2"
    assert store.current().intent.configuration == store.revision(2).intent.configuration


def test_rollback_passes_over_what_nobody_confirmed(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=600)
    refused = rollback(store).revision
    assert (refused.action, refused.instead_of) == ("rollback to 2", 3)
    assert rollback(store).revision.action == "rollback to 1"


def test_rollback_to_another_revision_instead_of_a_confirmation_leads_back_to_what_was_in_force(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=600)
    assert rollback(store, 1).revision.instead_of == 3
    assert rollback(store).revision.action == "rollback to 2"


def test_bare_rollback_that_finds_the_time_to_confirm_over_goes_back_once_and_not_twice(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=0.001)
    first = CliRunner().invoke(main, ["config", "rollback", "-q"])
    assert first.exit_code == 1, first.output
    assert "revision 4: rollback to 2: revision 3 was not confirmed" in first.stderr
    assert "has just put revision 4 in force, and nothing else was done" in first.stderr
    assert store.current_number() == 4
    again = CliRunner().invoke(main, ["config", "rollback", "-q"])
    assert again.exit_code == 0, again.output
    assert store.current().action == "rollback to 1"


def test_rollback_to_a_number_is_done_also_when_the_time_to_confirm_is_over(store, fakes):
    for name in ("drop_tail", "mark_threshold"):
        apply(store, fakes, name)
    apply(store, fakes, "codel", confirm_seconds=0.001)
    done = CliRunner().invoke(main, ["config", "rollback", "-q", "1"])
    assert done.exit_code == 0, done.output
    assert (store.current_number(), store.current().action) == (5, "rollback to 1")


def test_there_must_be_something_to_go_back_to_that_somebody_confirmed(store, fakes):
    apply(store, fakes, "drop_tail")
    apply(store, fakes, "codel", confirm_seconds=600)
    rollback(store)
    with pytest.raises(StateError, match="there is no revision before the current one, 3, to go back to"):
        rollback(store)


def test_there_must_be_something_to_go_back_to(store, fakes):
    with pytest.raises(StateError, match="there is no revision yet"):
        rollback(store)
    apply(store, fakes, "drop_tail")
    with pytest.raises(StateError, match="there is no revision before the current one, 1"):
        rollback(store)


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
    apply(store, fakes, "mark_threshold")
    path = store.folder / "revisions" / "1.json"
    digest = store.revision(1).intent.entries["leaf1"]
    path.write_text(path.read_text().replace(digest, "0" * 64))
    said: list[str] = []
    rollback(store, 1, say=said.append)
    assert said == ["this version of eeon makes other entries of revision 1 than the one that made it"]
    rollback(store, 2, say=said.append)
    assert len(said) == 1


def test_folder_of_another_fabric_is_refused(store, fakes):
    apply(store, fakes, "drop_tail")
    other = topology.load("leaf-spine-160")
    addresses = dict.fromkeys(other.switches, "127.0.0.1:1")
    elsewhere = Targets.from_value({"tick": "1ns", "switches": addresses}, "test")
    says = pytest.raises(
        StateError, match=r"is the state of fabric leaf-spine-4, .* for leaf-spine-160; give another"
    )
    with store.lock("test") as lock, says:
        meant = state.Intended(other, config.load("drop_tail"), elsewhere)
        sync.run(operations.apply(operations.Work(store, lock), meant))
