"""An apply in waves, killed at each of its steps: the rest is reported and finished."""

import json

import pytest
from eeon_command import eeon
from eeon_control import config, data, fabric, operations, state, topology
from eeon_control.plan.waves import waves
from eeon_control.targets import Targets
from engine_switches import serving
from killed_applies import killed
from revisions import done, meant

pytestmark = pytest.mark.system

TOPOLOGY_TEXT = data.find_yaml("topologies", "leaf-spine-4").read_text()
TOPOLOGY = topology.from_text(TOPOLOGY_TEXT)
WAVES = waves(TOPOLOGY, "1,rest")
OLD, NEW = "drop_tail", "mark_threshold"


@pytest.fixture(scope="module")
def targets():
    with serving(TOPOLOGY) as (_, addresses):
        yield Targets.from_value({"tick": "1ns", "switches": addresses}, "test")


def holds(targets, name: str) -> bool:
    """Returns whether all switches hold an example's program and entries."""
    return fabric.plan_sync(TOPOLOGY, config.load(name), targets.switches, 1000).is_empty


@pytest.fixture
def store(tmp_path, targets):
    found = state.StateStore.open(tmp_path / "state")
    back_to_old(found, targets)
    return found


def check_killed_at(at: int, store: state.StateStore, targets, *, gated: bool) -> list[str]:
    """Kills at a step, recovers, and checks that all hold the old or all the new state. Returns the steps."""
    before = store.current_number()
    how = {"waves": WAVES, "gated": gated}
    code, steps = killed(store.folder, TOPOLOGY_TEXT, (NEW,), targets.as_value(), at, **how)
    if code == 0:
        assert store.current_number() == before + 1 and holds(targets, NEW)
        return steps
    assert code == -9
    journal = store.journal()
    told = history(store)
    begun = [one for one in steps if one.startswith("wave ")]
    wrote = any(one.startswith("writing") for one in steps)
    unfinished = journal is not None and journal.revision > store.current_number()
    assert (told["unfinished"] is not None) == (journal is not None)
    if wrote and store.current_number() == before:
        assert unfinished, f"{steps[-1]}: switches were written and nothing says so"
    if unfinished and begun:
        assert journal.wave in (len(begun), len(begun) + 1)
        assert told["unfinished_progress"].startswith(f"wave {journal.wave} of {len(WAVES)} (")
    said: list[str] = []
    done(store, operations.settle, say=said.append)
    assert not store.has_journal()
    is_new = store.current_number() == before + 1
    assert holds(targets, NEW if is_new else OLD), steps[-1]
    if gated and f"passed wave {len(WAVES)} of {len(WAVES)}" not in steps:
        assert not is_new, "the last gate did not open"
    if unfinished:
        assert len(said) == 1 and "was interrupted" in said[0]
        if not is_new:
            (stopped, *_) = history(store)["stopped"]
            assert stopped["progress"] == journal.progress and stopped["after"] == before
    return steps


def history(store: state.StateStore) -> dict:
    told = eeon("config", "history", "--state", str(store.folder), "-o", "json", code=0)
    return json.loads(told.stdout)


def back_to_old(store, targets) -> None:
    done(store, operations.apply, meant(TOPOLOGY, OLD, targets.switches))


@pytest.mark.slow
@pytest.mark.parametrize("at", [13, 22, 31, 42])
def test_rollout_killed_at_a_step_leads_to_old_or_new_on_all_switches(store, targets, at):
    check_killed_at(at, store, targets, gated=at % 2 == 0)
    back_to_old(store, targets)


@pytest.mark.nightly
@pytest.mark.parametrize("gated", [False, True])
def test_rollout_killed_at_every_step_leads_to_old_or_new_on_all_switches(store, targets, gated):
    at = 1
    while True:
        steps = check_killed_at(at, store, targets, gated=gated)
        if len(steps) < at:
            break
        if store.current().intent.configuration == config.load(NEW).document.value:
            back_to_old(store, targets)
        at += 1
    assert at > 45
    back_to_old(store, targets)
