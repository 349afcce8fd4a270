"""The server with pygnmi, unmodified."""

import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from eeon_engine import Port, Switch
from eeon_engine.p4runtime import Tls, serve
from p4rt_client import p4info

pytestmark = pytest.mark.skipif(find_spec("pygnmi") is None, reason="pygnmi is not installed")

SESSION = Path(__file__).parent / "pygnmi_session.py"


@pytest.mark.system
@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "mutual TLS"])
def test_pygnmi_reads_ports_and_hears_of_a_link_that_goes_down(program, authority, tmp_path, is_encrypted):
    from control_plane.tests.certificates import made as identity

    switch = Switch(program, ports=[Port(1), Port(2)])
    own, theirs = identity("switch", authority), identity("client", authority)
    tls, files = None, []
    if is_encrypted:
        tls = Tls(own.certificate_pem, own.key_pem, authority.certificate_pem)
        pems = (authority.certificate_pem, theirs.certificate_pem, theirs.key_pem)
        for name, pem in zip(("authority", "certificate", "key"), pems, strict=True):
            (tmp_path / name).write_bytes(pem)
            files.append(str(tmp_path / name))
    with serve(switch, p4info=p4info(), tls=tls) as server:
        command = [sys.executable, str(SESSION), server.address, *files]
        errors = (tmp_path / "errors").open("w+")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as session, errors:
            assert session.stdout is not None
            seen: list[Any] = []
            deadline = threading.Timer(120, session.kill)
            deadline.start()
            for line in session.stdout:
                if not line.startswith("saw "):
                    continue
                seen.append(json.loads(line.removeprefix("saw ")))
                if seen[-1] == ["UP"]:
                    switch.port_set_link(2, False)
            status = session.wait(60)
            deadline.cancel()
            errors.seek(0)
            assert status == 0, errors.read()
    models, interfaces, refusal, *states = seen
    assert models == ["openconfig-interfaces", "openconfig-qos", "openconfig-p4rt", "eeon-qos"]
    assert [one["openconfig-interfaces:name"] for one in interfaces] == ["port1", "port2"]
    assert interfaces[1]["openconfig-interfaces:state"]["counters"]["in-pkts"] == "0"
    assert "gNMI is read-only on this switch" in refusal
    assert states == [["UP"], ["DOWN"]]
