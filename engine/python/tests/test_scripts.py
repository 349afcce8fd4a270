"""Every step of the scripts has its outcome on this switch, over P4Runtime and Thrift, and with frames.
Sequences, refusals of all kinds: P4Runtime 1.5 §9, §12.

simple_switch_grpc answers the same requests and calls with the same codes, except where a script has BMv2's
answer, and the reason for ours.
"""

import shutil
from collections.abc import Iterator

import pytest
from finsy.proto import p4r, rpc_code
from p4rt_client import PROGRAMS, Client, pipeline, primary
from scripts import ALL, BARE, Call, Request, scripts, served

from control_plane.tests.bmv2_process import start_bmv2
from differential.thrift import Client as ThriftClient

pytestmark = pytest.mark.system
needs_bmv2 = pytest.mark.skipif(
    shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not on PATH"
)


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_steps_have_their_outcomes_and_refused_requests_change_nothing(script):
    with served(script.program) as switch:
        for step in script.steps:
            step(switch)


@needs_bmv2
@pytest.mark.parametrize(
    ("program", "calls"),
    [
        pytest.param(one.program, found, id=one.name)
        for one in ALL
        if one.program != BARE and (found := one.all_of(Call))
    ],
)
def test_bmv2_answers_calls_the_same_but_where_a_script_says_otherwise(program, calls, tmp_path):
    path = str(PROGRAMS / f"{program}.json")
    with start_bmv2(tmp_path, program=path) as bmv2, ThriftClient(bmv2.thrift) as client:
        assert [call.asked(client)[0] for call in calls] == [call.bmv2 for call in calls]


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


@needs_bmv2
@pytest.mark.parametrize(
    "requests",
    [pytest.param(found, id=one.name) for one in scripts("everything") if (found := one.all_of(Request))],
)
def test_bmv2_answers_requests_with_the_same_codes_but_where_the_script_says_otherwise(client, requests):
    assert [request.answer(client)[0] for request in requests] == [request.bmv2 for request in requests]


@needs_bmv2
@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_bmv2_has_no_atomic_batches(client, atomicity):
    assert client.refused(atomicity=atomicity).code == rpc_code.UNIMPLEMENTED
