"""summary.json: the demo's numbers in a fixed format. Latencies of a class without deliveries are null."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from eeon_tools.demo.runs import DemoRun
from eeon_tools.errors import ReplayError
from eeon_tools.replay.result import RunResult
from eeon_tools.trace.frames import CLASS_NAMES


def summarise(seed: int, runs: Sequence[tuple[DemoRun, RunResult]]) -> str:
    """Returns the file's text. Raises ReplayError if the runs used different traces or programs."""
    digests = {result.program_digest for _, result in runs}
    traces = {(result.trace, result.trace_sha256) for _, result in runs}
    if len(digests) != 1 or len(traces) != 1:
        raise ReplayError("the trace or the P4 program changed while the demo ran; run it again")
    document = {
        "program_digest": digests.pop(),
        "trace": traces.pop()[0],
        "seed": seed,
        "runs": [
            {
                "name": run.name,
                "aqm": run.aqm,
                "eee": run.eee,
                "packets": {name: asdict(result.packets[name]) for name in CLASS_NAMES},
                "latency_us": {name: asdict(result.latency_us[name]) for name in CLASS_NAMES},
                "energy_joules": asdict(result.energy_joules),
                "reordered": result.reordered,
                "wall_seconds": round(result.wall_seconds, 3),
                "p4_passes": result.p4_passes,
            }
            for run, result in runs
        ],
    }
    return json.dumps(document, indent=2) + "\n"
