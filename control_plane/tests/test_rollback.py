"""A revision from which this version of eeon makes other entries; the rest is in `expected/scenarios/rollback.yaml`."""

import json

import pytest
from eeon_command import eeon
from eeon_control import operations, state, topology
from eeon_control.fabric import sync
from revisions import done, meant

pytestmark = pytest.mark.system

FABRIC = topology.load("leaf-spine-4")


def apply(store, fakes, name: str):
    return done(store, operations.apply, meant(FABRIC, name, fakes.targets))


def rollback(store, number: int, **work):
    return done(store, operations.rollback, number, **work)


def test_revision_that_means_other_entries_by_now_is_told(fakes, state_folder):
    store = state.StateStore.open(state_folder)
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
