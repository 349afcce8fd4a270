"""Mixes of small jobs: the requested load, at random times, in random order."""

from typing import Any

import pytest
from eeon_control import topology
from eeon_experiments.workloads.job_mix import JobMix

TWO_RACKS = topology.load("two-rack-24")


FORTY_PERCENT = {"kind": "job_mix", "load": "40%", "arrivals": "45s"}


def mix(**given: Any) -> JobMix:
    return JobMix.model_validate({**FORTY_PERCENT, **given})


def jobs(one: JobMix, seed: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = one.engine("small", TWO_RACKS, seed)["jobs"]
    return found


def test_core_time_is_that_of_mrperfs_cycles():
    one = mix()
    # Terasort: ten JVMs of 4e9 cycles, 640 MB at 40 + 44; a reducer of 4e9 + 1e9 + 6e9, 640 MB at 90.
    assert one.core_seconds("terasort") == pytest.approx((40e9 + 640e6 * 84 + 11e9 + 640e6 * 90) / 2.5e9)
    # Index moves 114 of 640 MB, Search next to nothing.
    assert one.core_seconds("index") == pytest.approx((40e9 + 640e6 * 40 + 114e6 * 134 + 11e9) / 2.5e9)
    assert one.core_seconds("search") == pytest.approx((40e9 + 640e6 * 40 + 33e3 * 134 + 11e9) / 2.5e9)


@pytest.mark.parametrize("load", ["5%", "40%", "55%"])
def test_as_many_jobs_arrive_as_keep_the_cores_busy(load):
    one = mix(load=load, arrivals="600s")
    counts = one.counts(TWO_RACKS)
    work = sum(one.core_seconds(name) * count for name, count in counts.items())
    assert work / (600 * 23 * 4) == pytest.approx(float(one.load), rel=0.05)


def test_sizes_are_the_papers():
    by_kind = {job["name"].split("_")[0]: job for job in jobs(mix())}
    sizes = {
        kind: (job["input_bytes"], job["shuffle_bytes"], job["output_bytes"]) for kind, job in by_kind.items()
    }
    assert sizes == {
        "terasort": (640_000_000, 640_000_000, 640_000_000),
        "search": (640_000_000, 33_000, 33_000),
        "index": (640_000_000, 114_000_000, 114_000_000),
    }
    assert {(job["maps"], job["reducers"]) for job in by_kind.values()} == {(10, 1)}


def test_a_seed_says_when_what_comes():
    one = mix(arrivals="300s")
    first, again, other = jobs(one, 1), jobs(one, 1), jobs(one, 2)
    assert first == again
    assert [job["arrival_ps"] for job in first] != [job["arrival_ps"] for job in other]
    assert [job["name"] for job in first] != [job["name"] for job in other]
    assert len(first) == len(other), "every seed offers the same load"
    times = [job["arrival_ps"] for job in first]
    assert times == sorted(times) and times[0] == 0 and times[-1] < 300 * 10**12
    assert len({job["name"] for job in first}) == len(first)


def test_shares_choose_the_kinds():
    counts = mix(shares={"terasort": 2, "search": 1, "index": 0}, arrivals="600s").counts(TWO_RACKS)
    assert set(counts) == {"terasort", "search"}
    assert counts["terasort"] == pytest.approx(2 * counts["search"], abs=1)


def test_even_the_smallest_load_is_a_job():
    assert mix(load="0.001%").counts(TWO_RACKS) == {"terasort": 1, "search": 1, "index": 1}
