"""Runs the cases on BMv2: `python ptf_tests/run/bmv2.py [CASE ...]`. Skips with a message if BMv2 is not
installed.

Needs no root and no network interfaces: packets go over nanomsg (`--packet-in`), ptf's platform `nn`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ptf_tests.lib.ports import CPU_PORT, DATA_PORTS, PRIORITIES
from ptf_tests.lib.targets.real_time import cli_command
from ptf_tests.run import suite, switch_process


def run(request: suite.Request) -> int:
    """Starts simple_switch_grpc, runs the cases, and stops it."""
    cli = switch_process.found("simple_switch_CLI")
    needed = {"simple_switch_grpc": shutil.which("simple_switch_grpc"), "simple_switch_CLI": cli}
    missing = [tool for tool, path in needed.items() if path is None]
    if cli is None or missing:
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
        params = {"grpc_address": f"127.0.0.1:{grpc_port}", "thrift_port": thrift_port, "cli": cli}
        try:
            with switch_process.running(command, grpc_port, Path(folder, "output.txt")):
                _deepen_queues(cli, thrift_port)
                return suite.run("bmv2", request, ("--platform", "nn", "--device-socket", ports), params)
        except switch_process.DidNotStart as error:
            print(f"ptf bmv2: {error}")
            return 1


def _deepen_queues(cli: str, thrift_port: int) -> None:
    """Deepens the target's queues. The program has its own limits; a target's queue that overflows (BMv2: 64
    packets) loses packets silently. Raises DidNotStart."""
    command = cli_command(cli, thrift_port)
    done = subprocess.run(command, input="set_queue_depth 100000\n", capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise switch_process.DidNotStart(
            f"{cli} ended with {done.returncode} and did not deepen the queues: {why}"
        )


if __name__ == "__main__":
    from ptf_tests.run.__main__ import main

    sys.exit(main("bmv2"))
