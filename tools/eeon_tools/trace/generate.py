"""From a workload to a trace on disk: lets the twin's hosts send, and writes each frame and the manifest.

The frames come in parts, so the length of a trace costs time and disk space but no memory.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from eeon_control import program as programs
from eeon_control.outputs import replacing
from eeon_control.topology import Host, Topology

from eeon_tools.errors import ToolsError
from eeon_tools.replay.twin import running_twin
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture_writer import CaptureWriter, check_suffix
from eeon_tools.trace.frames import CLASS_NAMES, with_dscp
from eeon_tools.trace.senders import BUFFER_BYTES, SenderSettings, sent

if TYPE_CHECKING:
    from eeon_engine.json_types import ApplicationSpec

_PS_PER_NS = 1000


class Workload(Protocol):
    """The transfers between hosts. `settings` are for the manifest; `application` is what the engine runs."""

    kind: ClassVar[str]

    def settings(self) -> dict[str, object]: ...

    def application(self, hosts: list[Host]) -> ApplicationSpec: ...


def generate(
    path: Path,
    topology: Topology,
    workload: Workload,
    senders: SenderSettings,
    seed: int,
    *,
    topology_file: Path | None = None,
    whole_frames: bool = False,
    max_packets: int = 2**63,
    progress: Callable[[int], None] = lambda packets: None,
) -> manifests.Manifest:
    """Writes the trace of `workload` to `path` and its manifest beside it.

    By default frames are cut after their headers and keep their true length (`orig_len`); payloads are zeros
    in any case. `topology_file`: of a topology that does not ship, for the manifest. A trace of more than
    `max_packets` is refused, and its file is removed. `progress` is called with the number of packets now and
    then. The same arguments give the same bytes.
    """
    check_suffix(path)
    hosts = list(topology.hosts.values())
    program = programs.load()
    application = workload.application(hosts)
    packets = frame_bytes = first_ns = last_ns = 0
    with replacing(path) as scratch:
        with (
            CaptureWriter(scratch) as writer,
            running_twin(topology, program, senders.fabric(topology, seed)) as twin,
        ):
            twin.apply(senders.config())
            twin.start_workload({"seed": seed, "tcp": senders.tcp(), "applications": [application]})
            dscps = _Dscps(senders) if any(senders.dscps) else None
            for part in sent(twin, topology):
                packets += len(part)
                if packets > max_packets:
                    raise ToolsError(
                        f"{path}: the trace has more than {max_packets} packets, the limit; "
                        "scale it down or raise the limit"
                    )
                for hop in part.events():
                    captured = hop.frame if dscps is None else dscps.given_to(hop.frame)
                    if whole_frames:
                        captured = captured.ljust(hop.length, b"\0")
                    last_ns = -(-hop.at_ps // _PS_PER_NS)
                    first_ns = first_ns if frame_bytes else last_ns
                    frame_bytes += hop.length
                    writer.write(last_ns, captured, hop.length)
                progress(packets)
            report = twin.report()
        if packets == 0:
            raise ToolsError(f"{path}: nothing to write: every transfer is from a host to itself")
        if lost := report["conservation"]["switch_drops"]:
            raise ToolsError(
                f"{path}: {lost} packets did not fit the buffer of {BUFFER_BYTES} before a receiver; "
                "make the window smaller"
            )
    came_of = report.get("workload")
    assert came_of is not None, "the twin has a workload"
    manifest = manifests.Manifest(
        format="eeon-trace-1",
        trace=path.name,
        sha256=manifests.digest(path),
        topology=topology.name,
        topology_file=None if topology_file is None else os.path.relpath(topology_file, path.parent),
        hosts=[
            manifests.ManifestHost(name=one.name, mac=one.mac, ipv4=str(one.ipv4), ipv6=str(one.ipv6))
            for one in hosts
        ],
        generator={
            "kind": workload.kind,
            "program": program.digest,
            "tcp": {**asdict(senders), "dscps": list(senders.dscps)},
            **workload.settings(),
        },
        seed=seed,
        packets={name: report["classes"][name]["sent"]["packets"] for name in CLASS_NAMES},
        duration_ns=last_ns - first_ns,
        frame_bytes=frame_bytes,
        connections=came_of["flows"]["started"],
    )
    manifests.write(path, manifest)
    return manifest


class _Dscps:
    """Sets the DSCPs of frames by connection. They make no difference in the network of a trace."""

    def __init__(self, senders: SenderSettings) -> None:
        self._next = itertools.cycle(senders.dscps)
        self._of: dict[bytes, int] = {}
        self._addresses_at, self._ports_at = (22, 54) if senders.ipv6 else (26, 34)

    def given_to(self, frame: bytes) -> bytes:
        at, ports = self._addresses_at, self._ports_at
        middle = (at + ports) // 2
        one = frame[at:middle] + frame[ports : ports + 2]
        other = frame[middle:ports] + frame[ports + 2 : ports + 4]
        if one + other not in self._of:
            self._of[one + other] = self._of[other + one] = next(self._next)
        return with_dscp(frame, self._of[one + other])
