"""The table of operations and clients in docs/run/security.md: each line is tried."""

import json
import os
import subprocess
import sys
from pathlib import Path

import access_probe
import pytest
from access_probe import files
from switch_process import running

from control_plane.tests.bmv2_process import free_port

pytestmark = pytest.mark.system

PAGE = Path(__file__).resolve().parents[3] / "docs" / "run" / "security.md"
HEADING = "## Who may do what at a switch"
PROBE = access_probe.__file__
SERVER_TLS = ["--grpc-server-ssl", "--grpc-server-cert", "switch.pem", "--grpc-server-key", "switch.key"]
MUTUAL_TLS = [*SERVER_TLS, "--grpc-server-cacert", "ca.pem", "--grpc-server-with-client-auth"]
ADDRESS = ["--grpc-server-addr", "127.0.0.1:{grpc}"]

STARTED = {
    "nothing": ([], ADDRESS),
    "`--thrift-port none`": (["--thrift-port", "none"], ADDRESS),
    "`--grpc-server-addr unix:PATH`": (["--thrift-port", "none"], ["--grpc-server-addr", "unix:{folder}/s"]),
    "TLS": ([], [*ADDRESS, *SERVER_TLS]),
    "mutual TLS": ([], [*ADDRESS, *MUTUAL_TLS]),
    "mutual TLS, `--client-rights`": (["--client-rights", "rights.toml"], [*ADDRESS, *MUTUAL_TLS]),
}
"""The column "switch started with": flags, and target flags. "nothing" gets free ports, not 9090."""
CLIENTS = {
    "any user of the computer": {"as_nobody": True},
    "another user of the computer": {"as_nobody": True},
    "the switch's user": {},
    # Another loopback address than that on which servers listen; other computers cannot even reach this one.
    "another computer": {"host": "127.0.0.2"},
    "clients that trust its authority": {"tls": "", "as_nobody": True},
    "one without a certificate": {"tls": "", "as_nobody": True},
    "one without TLS": {"as_nobody": True},
    "one with a certificate": {"tls": "stranger"},
    "one that the file does not name": {"tls": "stranger"},
    '`rights = ["read"]`': {"tls": "observer"},
    '`rights = ["read", "write"]`': {"tls": "operator"},
    '`rights = ["read", "write", "pipeline"]`': {"tls": "controller"},
    'the same with `roles = ["routing"]`, as `routing`': {"tls": "daemon", "role": "routing"},
    'the same with `roles = ["routing"]`, as the default role': {"tls": "daemon"},
}
"""The column "client"."""


def lines() -> list[dict[str, str]]:
    """Returns the table, as a mapping from column to cell for each line."""
    text = PAGE.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    table = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    columns, _, *cells = rows
    return [dict(zip(columns, row, strict=True)) for row in cells]


def tried(folder: Path, grpc: str, thrift: str, **client: object) -> dict[str, bool]:
    """Returns the results of the probe."""
    asked: dict[str, object] = {"grpc": grpc, "thrift": thrift, **client}
    if os.geteuid() != 0:
        asked.pop("as_nobody", None)
    if "tls" in client:
        asked["tls"] = files(folder, str(client["tls"]))
    done = subprocess.run(
        [sys.executable, PROBE, json.dumps(asked)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line['switch started with']}: {line['client']}")
def test_a_line_of_the_table_is_what_a_client_finds(folder, line):
    line = dict(line)
    started, who = line.pop("switch started with"), line.pop("client")
    if who == "another user of the computer" and os.geteuid() != 0:
        pytest.skip("needs root, to act as another user")
    flags, target = STARTED[started]
    grpc, thrift = free_port(), free_port()
    if started == "nothing":
        flags = ["--thrift-port", str(thrift)]
    filled = [word.format(grpc=grpc, folder=folder) for word in target]
    client = dict(CLIENTS[who])
    host = client.pop("host", "127.0.0.1")
    own = f"unix:{folder}/s" if "unix:" in started else f"127.0.0.1:{grpc}"
    with running("--no-p4", "--device-id", "1", *flags, "--", *filled, cwd=folder) as switch:
        switch.wait_for("Server listening on ")
        access_probe.set_up(own, files(folder, "controller") if "TLS" in started else None)
        at = own if "unix:" in started else f"{host}:{grpc}"
        found = tried(folder, at, f"{host}:{thrift}", **client)
    assert {what: "yes" if may else "no" for what, may in found.items()} == line


def test_every_way_to_start_a_switch_and_every_client_has_its_line():
    assert {line["switch started with"] for line in lines()} == set(STARTED)
    assert {line["client"] for line in lines()} == set(CLIENTS)
