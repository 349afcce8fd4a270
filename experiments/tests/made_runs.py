"""Made-up rows of experiments, for tests of the code that processes rows. Nothing here was measured."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from eeon_tools.replay.result import CLASS_NAMES

_REDS = ("red_2ms", "red_1ms", "red_500us", "red_300us", "red_100us")
_CODELS = ("codel_1", "codel_2", "codel_3", "codel_4")
_SCENARIOS = ("batch_24", "batch_50", "batch_80", "small_24", "small_50", "small_80")
_EEE = ("off", "standard", "12us10", "120us100", "1ms1000", "10ms1000", "12us10+", "120us100+")


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


def marking_points() -> Iterator[dict[str, str]]:
    """Yields all combinations of axes in experiment `marking`."""
    for buffer in ("shallow", "deep"):
        yield {"buffer": buffer, "transport": "newreno", "queue": "drop_tail"}
        for transport in ("ecn", "dctcp"):
            for queue in (*_REDS, *_CODELS):
                for protect in ("ect", "ece", "ack_syn"):
                    yield {"buffer": buffer, "transport": transport, "queue": queue, "protect": protect}
            for delay in ("100us", "500us", "1ms"):
                yield {"buffer": buffer, "transport": transport, "queue": f"threshold_{delay}"}

    for transport in ("ecn", "dctcp"):
        for delay in ("100us", "500us"):
            point = {"buffer": "shallow", "transport": transport, "queue": f"threshold_{delay}"}
            yield {**point, "workload": "short"}


def aqm_points() -> Iterator[dict[str, str]]:
    """Yields all combinations of axes in experiment `aqm`."""
    fixed = ("red_70_70", "red_25_51", "red_25_75", "red_50_150")
    for buffer in ("shallow", "deep"):
        yield {"buffer": buffer, "transport": "plain", "queue": "drop_tail"}
        for transport in ("newreno", "ecn", "dctcp"):
            for queue in ("red_100us", "red_500us", "red_1ms", *fixed, "red_500us_averaged", *_CODELS):
                yield {"buffer": buffer, "transport": transport, "queue": queue}


def eee_points() -> Iterator[dict[str, str]]:
    """Yields all combinations of axes in experiment `eee`."""
    for scenario in _SCENARIOS:
        for buffer in ("shallow", "deep"):
            for window in ("default", "tuned"):
                for eee in _EEE:
                    yield {"scenario": scenario, "buffer": buffer, "window": window, "eee": eee}
    for stall in ("0us", "10us", "50us", "500us", "5ms"):
        yield {
            "scenario": "small_24",
            "buffer": "deep",
            "window": "default",
            "eee": "standard",
            "stall": stall,
        }
    for delay in ("0us", "10us", "50us", "100us", "200us", "500us", "1ms", "5ms", "10ms"):
        for scenario in ("batch_24", "small_24"):
            yield {"scenario": scenario, "buffer": "deep", "window": "default", "eee": "off", "delay": delay}
    for load in ("5", "10", "25", "40", "55"):
        for eee in ("standard", "12us10_10g", "120us100_10g", "1ms1000_10g"):
            yield {
                "scenario": "terasort_24",
                "buffer": "shallow",
                "window": "tuned",
                "eee": eee,
                "load": load,
            }
    for rho in ("1", "5", "10", "20", "30", "50", "70", "90"):
        for eee in ("standard", "12us10", "120us100"):
            yield {"scenario": "poisson", "buffer": "deep", "eee": eee, "rho": rho}


def eee_ecn_points() -> Iterator[dict[str, str]]:
    """Yields all combinations of axes in experiment `eee_ecn`."""
    for buffer in ("shallow", "deep"):
        for control in ("tcp", "red_ecn"):
            for eee in ("off", "standard", "12us10", "120us100", "500us500", "1ms1000"):
                yield {"buffer": buffer, "control": control, "eee": eee}


def threshold_points() -> Iterator[dict[str, str]]:
    """Yields all combinations of axes in experiment `threshold`."""
    aqms = ("red_100us", "red_500us", "red_500us_ack_syn", "codel", "codel_ack_syn")
    for buffer in ("shallow", "deep"):
        yield {"buffer": buffer, "transport": "newreno", "queue": "drop_tail"}
        marks = (1, 5, 20, 65, 130, 198) if buffer == "shallow" else (1, 20, 65, 198, 650, 1980)
        for transport in ("ecn", "dctcp"):
            for queue in (*(f"mark_{mark}" for mark in marks), *aqms):
                yield {"buffer": buffer, "transport": transport, "queue": queue}
    for transport in ("dctcp_data_only", "dctcp_linux"):
        for queue in ("mark_20", "red_100us", "red_500us", "codel"):
            yield {"buffer": "shallow", "transport": transport, "queue": queue}
    for eee in ("off", "standard", "120us100", "1ms1000"):
        for transport, queue in (("newreno", "drop_tail"), ("dctcp", "mark_65"), ("dctcp", "red_100us")):
            yield {"buffer": "shallow", "transport": transport, "queue": queue, "eee": eee}


POINTS = {
    "marking": marking_points,
    "aqm": aqm_points,
    "eee": eee_points,
    "eee_ecn": eee_ecn_points,
    "threshold": threshold_points,
}


def rows(experiment: str, seeds: Iterable[int] = (1, 2, 3)) -> list[dict[str, Any]]:
    """Returns the rows of a whole experiment."""
    return [row(experiment, seed, point) for point in POINTS[experiment]() for seed in seeds]
