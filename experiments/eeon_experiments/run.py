"""One run, from its start to its row.

1. builds the twin of the topology and serves each of its switches over P4Runtime on loopback
2. lets the controller apply the configuration to all switches, at virtual time zero
3. gives the hosts their workload, and runs until its foreground has finished
4. reads counters and registers back over P4Runtime, at that instant
5. checks the packet counts, and makes the columns of a row

All of this happens in the calling process, which may execute many runs in turn: the compiled program is kept
between them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import resource
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control import program as programs
from eeon_control.errors import EeonError
from eeon_control.fabric import FabricCounters
from eeon_control.program import Program
from eeon_control.units import Duration
from eeon_tools.errors import ReplayError, ToolsError
from eeon_tools.hops.recording import Recording
from eeon_tools.replay import packet_counts
from eeon_tools.replay.result import RunTotals, total_of
from eeon_tools.replay.twin import running_twin
from eeon_tools.replay.twin_run import energy_of, latencies

from eeon_experiments import conservation
from eeon_experiments.fabric import entries_of, spec_of, workload_of
from eeon_experiments.measure import flow_rows, measured, with_nics, workload_report
from eeon_experiments.resolve import Run
from eeon_experiments.results import Value, rounded
from eeon_experiments.settings import RunSettings
from eeon_experiments.store import Outcome
from eeon_experiments.versions import commit, versions

if TYPE_CHECKING:
    from eeon_engine.hops import HopFilter
    from eeon_engine.json_types import Report

_REGISTERS = ("occupancy_bytes", "occupancy_packets", "wakes")
_ERROR_CHARS = 2000
_LONGEST_LIST = 100
_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_PEAK = re.compile(r"^VmHWM:\s+([0-9]+) kB$", re.MULTILINE)


def run_one(run: Run) -> Outcome:
    """Executes a run. A failed run returns an outcome with the reason; only an interruption is raised."""
    wall, cpu = time.monotonic(), time.process_time()
    _reset_peak()
    queues: object = None
    flows: list[Mapping[str, object]] = []
    found: dict[str, Value]
    try:
        found, queues, flows = _run(run)
        found["status"] = "finished"
    except (ToolsError, EeonError) as error:
        found = {"status": "failed", "error": str(error)[:_ERROR_CHARS]}
    except Exception as error:  # the other runs of a sweep continue
        found = {"status": "failed", "error": f"{type(error).__name__}: {error}"[:_ERROR_CHARS]}
    found["settings_json"] = json.dumps(_shown(run.settings))
    found["wall_seconds"] = round(time.monotonic() - wall, 3)
    found["cpu_seconds"] = round(time.process_time() - cpu, 3)
    found["peak_rss_bytes"] = _peak_bytes()
    return Outcome(run.id, run.seed, versions(), commit(), found, queues, flows)


def _shown(value: object) -> object:
    """Returns settings with long lists and mappings replaced by length and digest, to keep rows short."""
    if not isinstance(value, dict | list):
        return value
    if len(value) <= _LONGEST_LIST:
        if isinstance(value, dict):
            return {key: _shown(one) for key, one in value.items()}
        return [_shown(one) for one in value]
    return f"{len(value)} entries, SHA-256 {hashlib.sha256(json.dumps(value).encode()).hexdigest()}"


def record_one(run: Run, hops: HopFilter) -> tuple[Recording, RunTotals]:
    """Returns the events by hop of a run that `hops` admits, and the run's totals. Raises the exception of a
    failed run, except at its time limit: the recording then ends there."""
    settings, topology, config = run.parts()
    with running_twin(topology, _program(), spec_of(settings, topology, config, run.seed)) as twin:
        twin.apply(config)
        twin.record(hops)
        twin.start_workload(workload_of(settings, topology, run.seed))
        twin.engine.run_workload(int(settings.time_limit))
        report = twin.report()
        counters = twin.counters()
        registers = twin.registers(_REGISTERS)
        found = twin.recorded()
    assert found is not None, "the twin was asked to record"
    totals = RunTotals(
        with_nics(packet_counts.class_packets(report, counters, with_control=True), report),
        latencies(report),
        energy_of(report["energy"]["total"]),
        sum(values["wakes"] for values in registers.values()),
    )
    return Recording(run.id, found, topology, config, report["elapsed_ps"]), totals


def _run(run: Run) -> tuple[dict[str, Value], object, list[Mapping[str, object]]]:
    settings, topology, config = run.parts()
    spec = spec_of(settings, topology, config, run.seed)
    with running_twin(topology, _program(), spec) as twin:
        twin.apply(config)
        twin.start_workload(workload_of(settings, topology, run.seed))
        finished = twin.engine.run_workload(int(settings.time_limit))
        report = twin.report()
        counters = twin.counters()
        if not finished:
            raise ReplayError(f"{_unfinished(settings, report)}{_not_delivered(report, counters)}")
        registers = twin.registers(_REGISTERS)
        lossless_dropped = twin.lossless_dropped() if config.lossless else None
    packets = with_nics(packet_counts.class_packets(report, counters, with_control=True), report)
    conservation.check(topology, report, counters, registers, packets)
    queues = report["queue_depth"] if settings.queue_samples else None
    columns = measured(settings, topology, spec, report, packets, registers)
    columns |= {"lossless_dropped": lossless_dropped, "entries_digest": entries_of(topology, config)}
    return {name: rounded(value) for name, value in columns.items()}, queues, flow_rows(report)


@cache
def _program() -> Program:
    return programs.load()


def _unfinished(settings: RunSettings, report: Report) -> str:
    """Returns the applications and jobs that have not finished, and why the run ended."""
    left = []
    for application in workload_report(report)["applications"]:
        if settings.workload.applications[application["name"]].background:
            continue
        if application["finished_ps"] is None:
            of_application = application["jobs"] if application["kind"] == "mapreduce" else ()
            jobs = [job["name"] for job in of_application if job["runtime_ps"] is None]
            left.append(f"{application['name']}{': ' + ', '.join(jobs[:5]) if jobs else ''}")
            if application["kind"] == "flows":
                left[-1] += f": {application['unfinished']} of {application['measured']} flows"
    elapsed = Duration(report["elapsed_ps"])
    why = (
        f"no event is left after {elapsed}"
        if report["idle"]
        else f"the time limit of {settings.time_limit} was reached"
    )
    return f"{why}, but these have not finished: {'; '.join(left)}"


def _not_delivered(report: Report, counters: FabricCounters) -> str:
    """Returns how many packets were dropped or lost, as the end of a sentence; empty if none was."""
    all_classes = total_of(packet_counts.class_packets(report, counters))
    parts = {
        "found a full buffer": all_classes.tail_dropped,
        "were dropped early": all_classes.early_dropped,
        "had no route or were refused": all_classes.other_dropped,
        "were lost on links": all_classes.lost,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    return f"; of {all_classes.sent:,} packets {told}" if told else ""


def _reset_peak() -> None:
    """Resets the peak of the memory in use. Freed memory that the allocator keeps still counts."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")  # proc(5): reset the peak resident set size


def _peak_bytes() -> int:
    """Returns the peak resident set size since `_reset_peak`, if the system reports it (Linux), else since
    the start of the process."""
    try:
        found = _PEAK.search(_STATUS.read_text())
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
