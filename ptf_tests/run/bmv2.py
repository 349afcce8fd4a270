"""Runs the cases on BMv2: `python ptf_tests/run/bmv2.py [CASE ...]`. Skipped, saying so, where BMv2 is not
installed.

No root and no network interfaces: packets go over nanomsg (`--packet-in`), which is ptf's platform `nn`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ptf_tests.lib.ports import CPU_PORT, DATA_PORTS, PRIORITIES
from ptf_tests.run import suite, switch_process
from ptf_tests.run.options import parse


def run(request: suite.Request) -> int:
    """Start simple_switch_grpc, run the cases, stop it."""
    missing = [tool for tool in ("simple_switch_grpc", "simple_switch_CLI") if shutil.which(tool) is None]
    if missing:
        print(f"ptf bmv2: skipped: {' and '.join(missing)} not on PATH")
        return 0
    grpc_port, thrift_port = switch_process.free_ports(2)
    with tempfile.TemporaryDirectory(prefix="ptf-bmv2-") as folder:
        packets = f"ipc://{folder}/packets.ipc"
        command = [
            *("simple_switch_grpc", "--no-p4", "--device-id", "1", "--packet-in", packets),
            *("--thrift-port", str(thrift_port), "--notifications-addr", f"ipc://{folder}/notifications.ipc"),
            *("--log-file", f"{folder}/bmv2", "--log-level", "warn", "--"),
            *("--grpc-server-addr", f"127.0.0.1:{grpc_port}", "--cpu-port", str(CPU_PORT)),
            *("--priority-queues", str(PRIORITIES)),
        ]
        ports = f"0-{{{DATA_PORTS[0]}-{DATA_PORTS[-1]}}}@{packets}"
        params = {"grpc_address": f"127.0.0.1:{grpc_port}", "thrift_port": thrift_port}
        try:
            with switch_process.running(command, grpc_port, Path(folder, "output.txt")):
                _deepen_queues(thrift_port)
                return suite.run("bmv2", request, ("--platform", "nn", "--device-socket", ports), params)
        except switch_process.DidNotStart as error:
            print(f"ptf bmv2: {error}")
            return 1


def _deepen_queues(thrift_port: int) -> None:
    """The program keeps its own limits; a target's queue that overflows (BMv2: 64 packets) would do so
    silently."""
    cli = ("simple_switch_CLI", "--thrift-port", str(thrift_port))
    subprocess.run(cli, input=b"set_queue_depth 100000\n", check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(run(parse(sys.argv[1:])))
