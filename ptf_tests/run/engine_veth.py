"""Runs the cases on the command eeon-switch, over veth pairs and in real time:
`python ptf_tests/run/engine_veth.py [CASE ...]`. Skips with a message without root.

`--short`: a few cases, half a minute, which `make test` runs.
"""

import signal
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ptf_tests.lib.ports import CPU_PORT, DATA_PORTS, PRIORITIES
from ptf_tests.run import suite, switch_process, veth

SHORT = (
    *("interface", "packet_io", "forwarding.Ipv4JumboFramePassesWhole"),
    "priority.OrderIsKeptWithinEachQueue",
    *("forwarding.Ipv6PacketWithVlanTagKeepsItsTag", "forwarding.Ipv4TotalLengthBeyondTheFrameIsMalformed"),
    *("mark_threshold.MarkThresholdMarksOneByteAbove", "mark_threshold.MarkAtDequeueIsCounted"),
    *("buffer.BufferHoldsExactlyItsLimit", "eee_coarse.CoarseHoldByTimerReleasesEverythingInOrder"),
)
"""A few cases for faults of wire, clock and process; all cases take minutes."""

_PLATFORM = (
    *("--platform", "veth", "--platform-dir", str(suite.PTF_TESTS / "lib" / "platforms")),
    *("--socket-recv-size", str(veth.MTU_BYTES + 100)),
)


def run(request: suite.Request) -> int:
    """Creates the pairs, starts eeon-switch, runs the cases, and removes everything."""
    found = {name: switch_process.found(name) for name in ("eeon-switch", "simple_switch_CLI")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        return suite.refused(f"{' and '.join(missing)} not installed here; `make setup` does it")
    impossible = veth.why_impossible()
    if impossible:
        print(f"ptf engine-veth: skipped: {impossible}")
        return 0
    grpc_port, thrift_port = switch_process.free_ports(2)
    address = f"127.0.0.1:{grpc_port}"
    params = {"grpc_address": address, "thrift_port": thrift_port, "cli": found["simple_switch_CLI"]}
    # The default would end this process before the pairs are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with tempfile.TemporaryDirectory(prefix="ptf-veth-") as folder, veth.pairs(DATA_PORTS) as pairs:
            command = [str(found["eeon-switch"]), "--no-p4", "--device-id", "1"]
            for port, (switch_end, _) in pairs.items():
                command += ["-i", f"{port}@{switch_end}"]
            command += ["--thrift-port", str(thrift_port), "--timestamp-unit", "ns"]
            # The program has its own limits; a queue of the switch that overflows loses packets silently.
            command += ["--port-buffer", "256MB", "--seed", "1"]
            command += ["--port-gate", "gate_open_at", "--queue-gate", "class_gate_open_at"]
            command += ["--queue-timer", "pause_timer"]
            command += ["--", "--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]
            command += ["--priority-queues", str(PRIORITIES)]
            interfaces = [word for port, (_, ours) in pairs.items() for word in ("-i", f"{port}@{ours}")]
            with switch_process.running(command, grpc_port, Path(folder, "output.txt")):
                return suite.run("engine-veth", request, [*_PLATFORM, *interfaces], params)
    except (switch_process.DidNotStart, veth.Refused) as error:
        print(f"ptf engine-veth: {error}")
        return 1


if __name__ == "__main__":
    from ptf_tests.run.__main__ import main

    sys.exit(main("engine-veth"))
