"""--dry-run prints what a command would write, and writes nothing to switches or folders."""

import json

import pytest
from eeon_command import Command, eeon
from eeon_control.fabric.undo import Snapshot
from eeon_control.state import Draft, Journal, StateStore

pytestmark = pytest.mark.system


@pytest.fixture
def fabric(tmp_path, fakes):
    return Command(tmp_path, fakes)


def test_a_dry_apply_tells_of_the_changes_and_makes_none(fabric):
    before = fabric.fakes.state()
    said = fabric.apply("-c", "drop_tail", "--dry-run", code=2)
    assert "the program is loaded on 4" in said.stdout
    assert fabric.fakes.state() == before and not fabric.state_folder.exists()
    fabric.apply("-c", "drop_tail")
    assert fabric.fakes.state() != before
    assert "no changes: 4 switches are as intended" in fabric.apply("-c", "drop_tail", "--dry-run").stdout


def test_a_dry_rollback_names_the_revision_and_goes_nowhere(fabric):
    fabric.apply("-c", "drop_tail")
    fabric.apply("-c", "mark_threshold")
    before = fabric.fakes.state()
    said = fabric.config("rollback", "--dry-run", code=2).stdout
    assert said.startswith("back to revision 1:\n") and "30 KB -> drop tail" in said
    assert fabric.fakes.state() == before
    assert json.loads(fabric.config("history", "--json", code=0).stdout)["current"] == 2
    assert (
        json.loads(fabric.config("rollback", "2", "--dry-run", "--json", code=0).stdout)["changes"] is False
    )
    assert "there are 1 to 2" in fabric.config("rollback", "7", "--dry-run", code=1).output


def test_a_dry_recover_names_what_is_unfinished_and_finishes_nothing(fabric):
    fabric.apply("-c", "drop_tail")
    assert fabric.config("recover", "--dry-run", code=0).stdout == "there is nothing to finish\n"
    store = StateStore.open(fabric.state_folder, create=False)
    with store.lock("a killed apply") as lock:
        draft = Draft(
            made="2026-11-22T00:00:00+00:00", by="me", action="apply", intent=store.revision(1).intent
        )
        before = {"leaf2": Snapshot(False)}
        store.begin(lock, Journal(revision=2, draft=draft, holder=lock.holder, before=before))
    said = fabric.config("recover", "--dry-run", code=0).stdout
    assert "was interrupted: leaf2 would go back" in said
    assert json.loads(fabric.config("recover", "--dry-run", "--json", code=0).stdout)["switches"] == ["leaf2"]
    assert store.journal() is not None
    assert "run `eeon config recover` first" in fabric.config("rollback", "1", "--dry-run", code=1).output
    told = fabric.apply("-c", "drop_tail", "--dry-run").stderr
    assert "is writing to the switches, or was interrupted: `eeon config recover` finishes it" in told


def test_a_dry_apply_of_a_saved_plan_says_when_it_is_out_of_date(fabric, tmp_path):
    saved = str(tmp_path / "plan.json")
    eeon("config", "plan", *fabric.options, "-c", "drop_tail", "--out", saved, code=2)
    fabric.config("apply", saved, "--dry-run", code=2)
    fabric.apply("-c", "mark_threshold")
    late = fabric.config("apply", saved, "--dry-run", code=1)
    assert "the plan is out of date" in late.output
