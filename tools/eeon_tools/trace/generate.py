"""From a workload to a trace on disk: run the segment model, write each segment, count, write the manifest.

The pipeline holds one segment at a time, so the length of a trace costs time and disk but no memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from eeon_tools.errors import ToolsError, TraceError
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture_writer import MAX_TIME_NS, check_suffix, open_writer
from eeon_tools.trace.frames import CLASSES, tcp_class
from eeon_tools.trace.hosts import TraceHost
from eeon_tools.trace.segments import SegmentModel, TcpModel


class Workload(Protocol):
    """Who fetches what from whom. `settings` goes into the manifest; `start` sets up the first timers."""

    kind: str

    def settings(self) -> dict[str, object]: ...

    def start(self, model: SegmentModel) -> None: ...


def generate(
    path: Path,
    topology: str,
    hosts: list[TraceHost],
    workload: Workload,
    tcp: TcpModel,
    seed: int,
    *,
    topology_file: Path | None = None,
    whole_frames: bool = False,
    max_packets: int = 2**63,
    progress: Callable[[int], None] = lambda packets: None,
) -> manifests.Manifest:
    """Writes the trace of `workload` to `path` and its manifest beside it.

    By default frames are cut after their headers and keep their true length (`orig_len`); payloads are zeros
    either way. `topology_file`: of a topology that does not ship, for the manifest. A trace of more than
    `max_packets` is refused and what was written is removed. `progress` hears the number of packets now and
    then. The same arguments give the same bytes.
    """
    check_suffix(path)
    model = SegmentModel(hosts, tcp, seed)
    workload.start(model)
    counts = [0] * len(CLASSES)
    total = frame_bytes = first_ns = last_ns = 0
    partial = path.with_name(f".{path.name}.partial{path.suffix}")
    writer = open_writer(partial)
    try:
        try:
            write = writer.write
            for segment in model.run():
                if segment.time_ns > MAX_TIME_NS:
                    raise TraceError(
                        path,
                        f"packet {total + 1}",
                        f"would be sent {segment.time_ns / 1e9:,.0f} s after the start; a capture's times "
                        f"end at {MAX_TIME_NS // 10**9:,} s",
                    )
                captured = segment.headers
                if whole_frames:
                    captured = captured.ljust(segment.frame_bytes, b"\0")
                write(segment.time_ns, captured, segment.frame_bytes)
                counts[tcp_class(segment.flags, segment.payload_bytes)] += 1
                frame_bytes += segment.frame_bytes
                last_ns = segment.time_ns
                if total == 0:
                    first_ns = last_ns
                total += 1
                if total > max_packets:
                    raise ToolsError(
                        f"{path}: the trace grew beyond {max_packets} packets; scale it down or allow more"
                    )
                if total & 0x3FFF == 0:
                    progress(total)
        finally:
            writer.close()
        if total == 0:
            raise ToolsError(f"{path}: nothing to write: every transfer stays on the host where it begins")
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    progress(total)
    manifest = manifests.Manifest(
        trace=path.name,
        sha256=manifests.digest(path),
        topology=topology,
        topology_file=None if topology_file is None else os.path.relpath(topology_file, path.parent),
        hosts=manifests.describe_hosts(hosts),
        generator={
            "kind": workload.kind,
            "tcp": {**asdict(tcp), "dscps": list(tcp.dscps)},
            **workload.settings(),
        },
        seed=seed,
        packets={kind.label: counts[kind] for kind in CLASSES},
        duration_ns=last_ns - first_ns,
        frame_bytes=frame_bytes,
        connections=model.connections,
    )
    manifests.write(path, manifest)
    return manifest
