"""A state folder for another P4 program: no switch is contacted, and the message names the next step."""

import pytest
from eeon_command import eeon
from eeon_control import config, operations, state
from eeon_control.errors import ProgramPinned
from eeon_control.fabric.sync import run
from eeon_control.fabric.undo import Snapshot
from eeon_control.targets import Target
from supervised import TOPOLOGY, committed


@pytest.fixture
def store(tmp_path):
    targets = {name: Target("127.0.0.1:1") for name in TOPOLOGY.switches}
    found = committed(tmp_path / "state", targets, config.load("drop_tail"))
    theirs = found.current().intent.model_copy(update={"program": "0" * 64})
    with found.lock("a test") as lock:
        found.commit(lock, state.Draft(made="", by="", action="apply", intent=theirs))
    return found


def test_drift_from_a_revision_of_another_program_names_apply(store):
    with pytest.raises(
        ProgramPinned, match=r"^revision 2 pins .*: nothing is written .*`eeon config apply` loads it$"
    ):
        run(operations.drift(store))


def test_journal_of_another_program_is_left_to_the_version_that_wrote_it(store):
    intent = store.current().intent
    with store.lock("a test") as lock:
        journal = state.Journal(
            revision=3,
            draft=state.Draft(made="", by="", action="apply", intent=intent),
            holder=state.Holder.me("a test"),
            before={"leaf1": Snapshot(False)},
        )
        store.begin(lock, journal)
        with pytest.raises(ProgramPinned, match=r"^the journal pins .* of the version that wrote it"):
            run(operations.recover(operations.Work(store, lock)))
    tried = eeon("config", "recover", "--dry-run", "--state", str(store.folder), code=1)
    assert (
        "the journal pins" in tried.stderr
        and "`eeon config recover --forget` and apply again" in tried.stderr
    )
    eeon("config", "recover", "--dry-run", "--forget", "--state", str(store.folder), code=0)
    assert store.has_journal()
