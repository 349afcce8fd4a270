"""Random requests for valid P4Infos, by hypothesis: they reveal no bug, and undone batches leave no trace.

`test_p4rt_hostile` sends meaningless messages.
"""

from collections.abc import Iterator

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from p4rt_client import Client, Failed, codes, p4info, program_json

pytest.importorskip("hypothesis", reason="hypothesis is not installed")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_requests import batches, entities

pytestmark = pytest.mark.system

PROGRAMS = ("everything", "resources")

# Codes of a bug, as a client sees it. UNKNOWN also ends batches, but then with details.
_BUGS = {rpc_code.INTERNAL, rpc_code.UNKNOWN}


@pytest.fixture(scope="module", params=PROGRAMS)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, Switch, Client]]:
    """Serves a switch for all examples of a test; only its clients restore its state."""
    switch = Switch(Program(program_json(request.param)))
    with serve(switch, p4info=p4info(request.param)) as server:
        client = Client(server.address, stream_timeout_s=3600)
        client.arbitrate()
        yield request.param, switch, client
        client.close()


def check(failed: Failed) -> None:
    """Checks that a refusal has a reason for each update."""
    assert failed.code == rpc_code.UNKNOWN and failed.updates, failed
    assert not _BUGS & set(codes(failed)), failed.updates
    assert all(message for code, message in failed.updates if code != rpc_code.OK), failed.updates


_SETTINGS = settings(
    derandomize=True,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@_SETTINGS
@given(data=st.data())
def test_random_batches_are_accepted_or_refused_update_by_update(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    program, switch, client = served
    updates = data.draw(batches(p4info(program)))
    try:
        client.write(*updates)
    except Failed as failed:
        check(failed)
    for table in p4info(program).tables:
        there = client.read(p4r.TableEntry(table_id=table.preamble.id))
        assert len(there) == len(switch.mt_get_entries(table.preamble.name)), table.preamble.name


@pytest.mark.slow
@_SETTINGS
@given(data=st.data())
def test_a_random_batch_that_is_taken_back_leaves_the_state_as_it_was_to_the_byte(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    """Refused updates are removed, until only the last update fails, which is always invalid and undoes all
    others."""
    program, _, client = served
    updates = data.draw(batches(p4info(program)))
    atomicity = data.draw(st.sampled_from([1, 2]))
    before = client.state()
    while True:
        failed = client.refused(*updates, (1, p4r.Entity()), atomicity=atomicity)
        check(failed)
        assert client.state() == before
        (refused,) = (at for at, code in enumerate(codes(failed)) if code != rpc_code.ABORTED)
        if refused == len(updates):
            break
        del updates[refused]
    client.write(*updates, atomicity=atomicity)


@pytest.mark.slow
@_SETTINGS
@given(data=st.data())
def test_random_reads_are_answered_or_refused(
    served: tuple[str, Switch, Client], data: st.DataObject
) -> None:
    program, _, client = served
    requests = [data.draw(entities(p4info(program))) for _ in range(data.draw(st.integers(1, 4)))]
    failed = client.read_some(*requests)[1]
    if failed is not None:
        check(failed)
