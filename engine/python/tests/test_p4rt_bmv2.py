"""This server and simple_switch_grpc answer requests with the same codes, except for named differences.

Both run `everything`. A script is a sequence of one client's requests; if a code differs, the script has the
answer of BMv2's server (PI), and the reason for ours.
"""

import shutil
from collections.abc import Iterator

import pytest
from finsy.proto import p4r, rpc_code
from p4rt_client import Client, pipeline, primary
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
def client(bmv2: str) -> Iterator[Client]:
    """Connects a primary to BMv2's server, which gets only the program."""
    with primary(bmv2, pipeline()) as client:
        yield client


@pytest.mark.parametrize(
    "requests",
    [pytest.param(found, id=one.name) for one in scripts("everything") if (found := one.all_of(Request))],
)
def test_the_same_requests_get_the_same_codes_but_where_the_script_says_otherwise(
    client: Client, requests: list[Request]
) -> None:
    """`test_scripts.py` checks the answers of this server."""
    assert [request.answer(client)[0] for request in requests] == [request.bmv2 for request in requests]


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_bmv2_has_no_atomic_batches(client: Client, atomicity: int) -> None:
    assert client.refused(atomicity=atomicity).code == rpc_code.UNIMPLEMENTED
