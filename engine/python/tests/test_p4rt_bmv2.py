"""This server and simple_switch_grpc answer requests with the same codes, except for named differences.

Both run `everything`. A script is a sequence of one client's requests; if a code differs, the script has the
answer of BMv2's server (PI), and the reason for ours.
"""

import shutil
from collections.abc import Iterator

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from p4rt_client import INSERT, Client, Names, exact, pipeline, primary
from scripts import Request, scripts

from control_plane.tests.bmv2_process import start_bmv2

SWITCH = shutil.which("simple_switch_grpc")

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(SWITCH is None, reason="simple_switch_grpc is not on PATH"),
]


@pytest.fixture(scope="module")
def bmv2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Returns the address of a simple_switch_grpc without a program."""
    with start_bmv2(tmp_path_factory.mktemp("bmv2")) as started:
        yield started.address


@pytest.fixture
def both(bmv2: str) -> Iterator[tuple[Client, Client]]:
    """Connects a primary to this server and one to BMv2's, each with only the program."""
    with (
        serve(Switch()) as server,
        primary(server.address, pipeline()) as ours,
        primary(bmv2, pipeline()) as theirs,
    ):
        yield ours, theirs


def entry(names: Names, key: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("forward", 1))


@pytest.mark.parametrize(
    "requests",
    [pytest.param(found, id=one.name) for one in scripts("everything") if (found := one.all_of(Request))],
)
def test_the_same_requests_get_the_same_codes_but_where_the_script_says_otherwise(
    both: tuple[Client, Client], requests: list[Request]
) -> None:
    """`test_scripts.py` checks the answers of this server."""
    assert [request.answer(both[1])[0] for request in requests] == [request.bmv2 for request in requests]


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_bmv2_has_no_atomic_batches(both: tuple[Client, Client], names: Names, atomicity: int) -> None:
    ours, theirs = both
    ours.write((INSERT, entry(names)), atomicity=atomicity)
    assert theirs.refused((INSERT, entry(names)), atomicity=atomicity).code == rpc_code.UNIMPLEMENTED


def test_both_read_back_the_same_entries(both: tuple[Client, Client], names: Names) -> None:
    # BMv2 does not send is_const, and its const entries have priorities that differ from §9.1.4.
    const = names["const_table"]
    written = ("an_entry_comes", "keys_that_suit", "the_default_entry_is_changed")
    steps = [
        step
        for one in scripts("everything")
        if one.name.startswith(tuple(f"tables::{name}" for name in written))
        for step in one.all_of(Request)
    ]
    for client in both:
        for step in steps:
            step.answer(client)
        client.write(*((INSERT, entry(names, key)) for key in (3, 300, 70_000)))
    ours, theirs = (
        sorted(
            e.SerializeToString(deterministic=True)
            for e in client.read(p4r.TableEntry())
            if e.table_id != const
        )
        for client in both
    )
    assert ours == theirs
