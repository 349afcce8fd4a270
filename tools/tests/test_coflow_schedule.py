"""Coflows under schedulers in the fluid model: conversion of traces, closed forms, CoflowSim's sums."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from eeon_engine import InvalidValueError, run_fluid
from eeon_tools import coflow_schedule
from eeon_tools.coflow_schedule import (
    COFLOWSIM,
    VARIANTS,
    FluidTrace,
    Variant,
    World,
    complete,
    complete_all,
    read_trace,
)

from control_plane.tests.eeon_command import eeon

_SECOND = 1_000_000_000_000
EXACT = World(8_000_000, step_ps=None)
"""A megabyte takes a second."""


def trace(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "coflows.txt"
    path.write_text(text)
    return path


TWO = "4 2\n1 0 1 0 1 1:4\n2 1000 1 0 1 2:1\n"
"""A sends four megabytes from rack 0; B, a second later, one from the same rack."""


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        # A has 3 left when B arrives: they share until B ends at 3, and A ends at 5.
        ("fair", (5.0, 2.0)),
        # FCA takes nothing from A, which ends at 4; B ends at 5.
        ("fca", (4.0, 4.0)),
        ("fca, preempt", (5.0, 1.0)),
        ("scf", (5.0, 1.0)),
        ("sebf", (5.0, 1.0)),
        # Neither has sent ten mebibytes: in order of arrival.
        ("dclas", (4.0, 4.0)),
    ],
)
def test_two_coflows_on_one_link_end_when_their_order_says(tmp_path, name, seconds):
    (variant,) = (one for one in VARIANTS if one.name == name)
    assert complete(read_trace(trace(tmp_path, TWO), 1, None, EXACT), variant).seconds == seconds


def test_mappers_of_one_rack_are_one_flow_and_times_count_from_the_first_coflow_taken(tmp_path):
    text = "4 2\n1 0 1 0 1 1:4\n2 500 3 3 1 3 2 0:2 2:6\n"
    read = read_trace(trace(tmp_path, text), 2, None, EXACT)
    assert read.arrivals == [0]
    assert read.flows == [
        (0, 0, 1, 0, 8_000_000),
        (0, 0, 3, 0, 8_000_000),
        (0, 0, 1, 2, 24_000_000),
        (0, 0, 3, 2, 24_000_000),
    ]


def test_with_gaps_the_flows_of_a_reducer_come_one_by_one_and_the_same_seed_gives_the_same(tmp_path):
    path = trace(tmp_path, "99 1\n1 0 50 " + " ".join(map(str, range(50))) + " 2 60:50 61:50\n")
    gaps = read_trace(path, 1, None, EXACT, gap_ms=200, seed=3).flows
    for reducer in (60, 61):
        times = [at for at, _, _, to, _ in gaps if to == reducer]
        assert times[0] == 0
        assert times == sorted(set(times))
        assert 0.1 < times[-1] / 49 / _SECOND < 0.4
    assert read_trace(path, 1, None, EXACT, gap_ms=200, seed=3).flows == gaps
    assert read_trace(path, 1, None, EXACT, gap_ms=200, seed=4).flows != gaps


def test_what_the_engine_refuses_names_the_value():
    with pytest.raises(InvalidValueError, match="scheduler: unknown variant `best`, expected one of `fair`"):
        run_fluid("best", 2, 1, [])
    with pytest.raises(InvalidValueError, match="flow 0: from host 0 to host 2: there are 2 hosts"):
        run_fluid("fair", 2, 1, [(0, 0, 0, 2, 1)])
    with pytest.raises(InvalidValueError, match="a volume of 0 bits"):
        run_fluid("fair", 2, 1, [(0, 0, 0, 1, 0)])
    with pytest.raises(InvalidValueError, match="rate_bps 0"):
        run_fluid("fair", 2, 0, [])
    with pytest.raises(InvalidValueError, match="order: unknown variant `size`"):
        run_fluid("fca", 2, 1, [], order="size")


def test_the_command_prints_a_table_or_json_for_the_sample():
    assert "10 coflows, 82 flows" in eeon("schedule", code=0).output
    rows = json.loads(eeon("schedule", "--json", "--range", "1-3").output)
    assert [row["scheduler"] for row in rows] == [variant.name for variant in VARIANTS]
    assert rows[0]["against_fair"] == 0
    assert all(0 < row["median"] <= row["p95"] <= row["longest"] for row in rows)


SUMS = {"scf": 283_200, "sebf": 281_880, "dclas": 326_688}
"""Sums of durations in CoflowSim (commit b61f209), in its milliseconds, of the first 100 coflows of
FB2010-1Hr-150-0, line 1 changed to `150 100`: SCF, SEBF, and DARK, which is D-CLAS by strict priorities."""


@pytest.mark.system
@pytest.mark.parametrize("name", SUMS)
def test_the_sums_of_coflowsim_come_out_within_one_percent(name):
    path = os.environ.get("EEON_COFLOW_TRACE")
    if not path:
        pytest.skip("EEON_COFLOW_TRACE is not set: where FB2010-1Hr-150-0.txt of coflow/coflow-benchmark is")
    read = read_trace(Path(path), 1, 100, COFLOWSIM)
    total_ms = complete(read, Variant(name, name)).total * 1024
    assert abs(total_ms / SUMS[name] - 1) < 0.01, f"{total_ms:.0f} ms"


def test_coflowsim_lets_the_coflows_of_an_epoch_begin_together(tmp_path):
    # 10.24 s of the file are an epoch, because a second of CoflowSim has 1024 ms.
    lines = [f"{number} {at} 1 0 1 1:1" for number, at in enumerate((0, 1, 10_240, 10_241, 20_481), start=1)]
    read = read_trace(trace(tmp_path, "2 5\n" + "\n".join(lines) + "\n"), 1, None, COFLOWSIM)
    assert [at / _SECOND for at in read.arrivals] == [0, 0, 0, 10, 20]
    assert [flow[0] for flow in read.flows] == read.arrivals


MANY = [(0, number, number % 4, 4 + number % 3, 1_000_000 * (number + 1)) for number in range(300)]


def test_a_long_run_reports_progress_and_the_listener_can_end_it():
    heard: list[int] = []
    run_fluid("fair", 8, 10**9, MANY, progress=heard.append)
    assert heard == sorted(heard) and len(heard) > 2
    assert 0 < heard[0] < heard[-1] < len(MANY)

    def enough(ended: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fluid("fair", 8, 10**9, MANY, progress=enough)


STAR = FluidTrace(8, World(10**9, step_ps=None), MANY, [0] * len(MANY))


def test_all_variants_are_in_their_order_and_as_they_are_alone():
    heard: dict[str, list[int]] = {variant.name: [] for variant in VARIANTS}
    done = complete_all(STAR, lambda variant, ended: heard[variant.name].append(ended))
    assert done == [complete(STAR, variant) for variant in VARIANTS]
    for counts in heard.values():
        assert (counts[0], counts[-1]) == (0, len(MANY))
        assert counts == sorted(counts)


class TellingPool(ThreadPoolExecutor):
    """A pool that signals when its running jobs have been told to stop."""

    told = threading.Event()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        if cancel_futures:
            self.told.set()


def test_an_interrupt_ends_all_variants_before_it_is_raised(monkeypatch):
    monkeypatch.setattr(coflow_schedule, "ThreadPoolExecutor", TellingPool)
    flows = MANY * 10
    ended_at: list[int] = []
    is_interrupted = threading.Event()

    def interrupt(variant: Variant, ended: int) -> None:
        ended_at.append(ended)
        if ended > 0:
            if not is_interrupted.is_set():
                is_interrupted.set()
                os.kill(os.getpid(), signal.SIGINT)
            assert TellingPool.told.wait(60)

    with pytest.raises(KeyboardInterrupt):
        complete_all(FluidTrace(8, STAR.world, flows, [0] * len(MANY)), interrupt)
    assert 0 < max(ended_at) < len(flows)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
