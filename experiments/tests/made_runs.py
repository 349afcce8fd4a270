"""Made-up rows of experiments, for tests of the code that processes rows. Nothing here was measured."""

import json
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eeon_experiments import files, store
from eeon_experiments.expand import combinations
from eeon_experiments.results import Row
from eeon_tools.trace.frames import CLASS_NAMES

EXPERIMENTS = ("marking", "aqm", "eee", "eee_ecn", "threshold")
"""Experiments of which each kind of figure is drawn with made-up rows."""


def row(experiment: str, seed: int, axes: dict[str, str], **changed: Any) -> dict[str, Any]:
    """Returns a finished run with a number in every column that the report reads."""
    draw = random.Random(repr((experiment, seed, sorted(axes.items()))))
    near = lambda value: value * draw.uniform(0.97, 1.03)  # noqa: E731
    buffer = axes.get("buffer", "shallow")
    made: dict[str, Any] = {
        "run_id": f"{draw.getrandbits(64):016x}",
        "experiment": experiment,
        "quick": False,
        "seed": seed,
        "commit": "c" * 40,
        "dirty": False,
        "program_digest": "a" * 64,
        "engine_digest": "b" * 64,
        "status": "finished",
        "error": None,
        "runtime_seconds": near(20 if buffer == "deep" else 22),
        "job_runtime_mean_seconds": near(18),
        "throughput_per_node_bps": near(4.4e8 if buffer == "deep" else 4e8),
        "latency_mean_us": near(6000 if buffer == "deep" else 900),
        "fct_small_mean_seconds": near(0.02),
        "queue_max_bytes_host_facing": int(near(250_000)),
        "energy_used_joules": near(500),
        "energy_legacy_joules": near(2000),
        "energy_ideal_joules": near(250),
        "energy_1g_used_joules": near(300),
        "energy_1g_legacy_joules": near(1200),
        "energy_1g_ideal_joules": near(180),
        "energy_10g_used_joules": near(200),
        "energy_10g_legacy_joules": near(800),
        "energy_10g_ideal_joules": near(70),
        "wall_seconds": near(20),
        "cpu_seconds": near(20),
        "virtual_seconds": near(22),
        "p4_passes": 16_000_000,
        "peak_rss_bytes": 800_000_000,
    }
    for name in CLASS_NAMES:
        made[f"sent_{name}"] = made[f"delivered_{name}"] = 1_000_000
        made[f"early_dropped_{name}"] = draw.randrange(5000)
        made[f"tail_dropped_{name}"] = draw.randrange(500)
    return {**made, **{f"axis_{axis}": value for axis, value in axes.items()}, **changed}


@cache
def points(experiment: str) -> list[dict[str, str]]:
    """Returns all combinations of axes in an experiment's file, whichever experiments a test ships."""
    found = combinations(files.load(Path(__file__).parents[1] / experiment))
    used = [{axis: value for axis, value in axes.items() if value is not None} for axes, _ in found]
    return [axes for index, axes in enumerate(used) if axes not in used[:index]]


def keep(folder: Path, experiment: str, made: Sequence[Row], axes: Sequence[str], **changed: Any) -> None:
    """Writes rows and their manifest into a folder, as a run of the experiment does."""
    folder.mkdir(parents=True)
    store.write_rows(folder / store.ROWS, made, list(axes))
    manifest: dict[str, Any] = {"format": store.FORMAT, "experiment": experiment, "quick": False}
    manifest |= {"program_digest": "a" * 64, "engine_digest": "b" * 64, "commits": ["c" * 40]}
    manifest |= {"seeds": sorted({row.seed for row in made}), "rows": len(made), **changed}
    (folder / store.MANIFEST).write_text(json.dumps(manifest))


def rows(experiment: str, seeds: Iterable[int] = (1, 2, 3)) -> list[dict[str, Any]]:
    return [row(experiment, seed, point) for point in points(experiment) for seed in seeds]
