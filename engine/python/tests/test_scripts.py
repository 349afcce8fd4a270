"""Every step of the scripts has its outcome on this switch, over P4Runtime and Thrift, and with frames; and
every call over Thrift on BMv2's. `test_p4rt_bmv2.py` makes the requests over P4Runtime to BMv2.
Sequences, refusals of all kinds: P4Runtime 1.5 §9, §12."""

import shutil
from pathlib import Path

import pytest
from p4rt_client import PROGRAMS
from scripts import ALL, BARE, Call, Script, served

from control_plane.tests.bmv2_process import start_bmv2
from differential.thrift import Client

pytestmark = pytest.mark.system


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_steps_have_their_outcomes_and_refused_requests_change_nothing(script: Script) -> None:
    with served(script.program) as switch:
        for step in script.steps:
            step(switch)


@pytest.mark.skipif(shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not on PATH")
@pytest.mark.parametrize(
    ("program", "calls"),
    [
        pytest.param(one.program, found, id=one.name)
        for one in ALL
        if one.program != BARE and (found := one.all_of(Call))
    ],
)
def test_bmv2_answers_the_same_but_where_a_script_says_otherwise(
    program: str, calls: list[Call], tmp_path: Path
) -> None:
    path = str(PROGRAMS / f"{program}.json")
    with start_bmv2(tmp_path, program=path) as bmv2, Client(bmv2.thrift) as client:
        assert [call.asked(client)[0] for call in calls] == [call.bmv2 for call in calls]
