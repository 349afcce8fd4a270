"""The server with pygnmi, unmodified."""

import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from access_probe import files
from eeon_engine import Port, Switch
from eeon_engine.p4runtime import Tls, serve
from p4rt_client import p4info

pytestmark = pytest.mark.skipif(find_spec("pygnmi") is None, reason="pygnmi is not installed")

SESSION = Path(__file__).parent / "pygnmi_session.py"


@pytest.mark.system
@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "mutual TLS"])
def test_pygnmi_reads_ports_and_hears_of_a_link_that_goes_down(program, folder, tmp_path, is_encrypted):
    switch = Switch(program, ports=[Port(1), Port(2)])
    tls, own = None, []
    if is_encrypted:
        tls = Tls.from_files(folder / "switch.pem", folder / "switch.key", folder / "ca.pem")
        own = files(folder, "observer")
    with serve(switch, p4info=p4info(), tls=tls) as server:
        command = [sys.executable, str(SESSION), server.address, *own]
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
