"""Every call of the scripts gets the script's answer from this switch and from BMv2's."""

import shutil
from pathlib import Path

import pytest
from eeon_engine import Program, Switch
from eeon_engine.thrift import serve
from p4rt_client import program_json
from thrift_cli import NAMES, PROGRAMS, bmv2, path_outside_venv
from thrift_refusals import Script, scripts

from differential.thrift import Client

pytestmark = pytest.mark.system

ALL = [script for program in NAMES for script in scripts(program)]


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_calls_are_answered_by_their_codes(script: Script) -> None:
    with serve(Switch(Program(program_json(script.program))), "127.0.0.1:0") as server:
        client = Client(int(server.address.rpartition(":")[2]))
        assert [step.asked(client) for step in script.steps] == [step.answer for step in script.steps]
        client.close()


@pytest.mark.skipif(
    shutil.which("simple_switch", path=path_outside_venv()) is None, reason="simple_switch is not on PATH"
)
@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_bmv2_answers_the_same_but_where_a_script_says_otherwise(script: Script, tmp_path: Path) -> None:
    with bmv2(PROGRAMS / f"{script.program}.json", tmp_path) as port:
        client = Client(port)
        assert [step.asked(client) for step in script.steps] == [step.bmv2 for step in script.steps]
        client.close()
