"""summary.json: the demo's numbers in a fixed format, checked against its schema when it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import jsonschema

from eeon_tools.demo.runs import DemoRun
from eeon_tools.errors import ReplayError
from eeon_tools.replay.result import RunResult
from eeon_tools.trace.frames import CLASS_NAMES

_COUNT = {"type": "integer", "minimum": 0}
_LATENCY = {"type": ["number", "null"], "minimum": 0}
_JOULES = {"type": "number", "minimum": 0}


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


_PACKETS = _object(
    sent=_COUNT,
    delivered=_COUNT,
    marked=_COUNT,
    early_dropped=_COUNT,
    tail_dropped=_COUNT,
    other_dropped=_COUNT,
    lost=_COUNT,
)

SCHEMA: dict[str, object] = _object(
    program_digest={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    trace={"type": "string"},
    seed=_COUNT,
    runs={
        "type": "array",
        "minItems": 1,
        "items": _object(
            name={"type": "string"},
            aqm={"type": "string"},
            eee={"type": "string"},
            packets=_object(**dict.fromkeys(CLASS_NAMES, _PACKETS)),
            latency_us=_object(
                **dict.fromkeys(CLASS_NAMES, _object(mean=_LATENCY, p50=_LATENCY, p99=_LATENCY))
            ),
            energy_joules=_object(used=_JOULES, legacy=_JOULES, ideal=_JOULES),
            reordered=_COUNT,
            wall_seconds={"type": "number", "exclusiveMinimum": 0},
            p4_passes=_COUNT,
        ),
    },
)
"""JSON schema of summary.json. Latencies of a class without deliveries are null."""


def summarise(seed: int, runs: Sequence[tuple[DemoRun, RunResult]]) -> dict[str, object]:
    """Returns the document. Raises ReplayError if the runs used different traces or programs."""
    digests = {result.program_digest for _, result in runs}
    traces = {(result.trace, result.trace_sha256) for _, result in runs}
    if len(digests) != 1 or len(traces) != 1:
        raise ReplayError("the trace or the P4 program changed while the demo ran; run it again")
    return {
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


def write(path: Path, document: dict[str, object]) -> None:
    """Checks the document against its schema and writes it."""
    jsonschema.validate(document, SCHEMA)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
