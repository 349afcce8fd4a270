"""Completion times of a trace's coflows under the schedulers of the engine, in a fluid model.

The network is one non-blocking switch with a link for each rack of the trace, so that the result depends only
on the rates that a scheduler allocates, without packets, propagation or slow start.

`World` defines how the file is read: in its own units, or as in CoflowSim (github.com/coflow/coflowsim), for
comparison with its sums: `COFLOWSIM` has links of 2^30 bit/s, megabytes of 2^20 bytes, 1024 ms to a second,
time in steps of 8 ms, new rates when a coflow ends but not when a flow does, and epochs of 10.24 s: all
coflows of an epoch begin at its start.
"""

import math
import os
import random
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from eeon_tools.engine import load_engine
from eeon_tools.errors import CoflowError, InputError
from eeon_tools.trace.coflow import Coflow, read_coflows, select

_WAIT_SECONDS = 0.5
_PS_PER_SECOND = 1_000_000_000_000
MAX_FLOWS = 1 << 20
"""The maximum number of flows of a schedule."""


@dataclass(frozen=True, slots=True)
class World:
    """The units of a trace, and the progress of time."""

    rate_bps: int
    """Rate of each rack's link, in each direction."""
    megabyte: int = 1_000_000
    """Bytes of a megabyte."""
    second_ms: int = 1000
    """Milliseconds of a second."""
    step_ps: int | None = 1_000_000_000
    """Events happen at multiples of this time; None for no such steps."""
    only_whole_coflows: bool = False
    """Whether rates are allocated again only when a coflow arrives or ends."""
    epoch_ps: int | None = None
    """Length of an epoch: coflows that arrive in it, its end included, begin at its start."""

    def begins(self, arrival_ps: int) -> int:
        """Returns when a coflow that arrives at `arrival_ps` begins."""
        if self.epoch_ps is None:
            return arrival_ps
        return max(-(-arrival_ps // self.epoch_ps) - 1, 0) * self.epoch_ps


COFLOWSIM = World(
    2**30, 2**20, 1024, 8 * _PS_PER_SECOND // 1024, only_whole_coflows=True, epoch_ps=10 * _PS_PER_SECOND
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One line of the table."""

    name: str
    scheduler: str
    preempt: bool = False


VARIANTS = (
    Variant("fair", "fair"),
    Variant("fca", "fca"),
    Variant("fca, preempt", "fca", preempt=True),
    Variant("scf", "scf"),
    Variant("sebf", "sebf"),
    Variant("dclas", "dclas"),
)


@dataclass(frozen=True, slots=True)
class Completions:
    """Coflow completion times of one variant, in seconds, in file order."""

    variant: Variant
    seconds: tuple[float, ...]
    without_rate: int
    """The number of flows that got no rate when they arrived."""

    @property
    def total(self) -> float:
        return math.fsum(self.seconds)


@dataclass(frozen=True, slots=True)
class FluidTrace:
    """The engine's input: flows as (arrival in ps, coflow, from, to, bits), and the arrivals of coflows."""

    racks: int
    world: World
    flows: list[tuple[int, int, int, int, int]]
    arrivals: list[int]


def read_trace(
    path: Path, first: int, last: int | None, world: World, gap_ms: float = 0.0, seed: int = 1
) -> FluidTrace:
    """Reads coflows number `first` to `last` of a file (1-based, both included; None = to the end).

    The mappers of one rack become one flow to each reducer, with its part of the megabytes. With `gap_ms` a
    reducer's flows do not arrive with their coflow but one by one, with exponential gaps of this mean. Raises
    `CoflowError`.
    """
    racks, _ = read_coflows(path)
    draw = random.Random(seed)
    flows: list[tuple[int, int, int, int, int]] = []
    arrivals: list[int] = []
    for number, since_ms, coflow in select(path, first, last):
        at = world.begins(since_ms * _PS_PER_SECOND // world.second_ms)
        flows.extend(_flows(coflow, len(arrivals), at, world, gap_ms, draw))
        if len(flows) > MAX_FLOWS:
            raise CoflowError(path, f"coflow {number}", f"more than {MAX_FLOWS} flows; take fewer: --range")
        arrivals.append(at)
    return FluidTrace(racks + 1, world, flows, arrivals)


def _flows(
    coflow: Coflow, number: int, at: int, world: World, gap_ms: float, draw: random.Random
) -> Iterable[tuple[int, int, int, int, int]]:
    mappers = sorted(set(coflow.mappers))
    for rack, megabytes in coflow.reducers:
        bits = max(1, round(megabytes * world.megabyte * 8 / len(mappers)))
        begins = at
        for mapper in mappers:
            yield begins, number, mapper, rack, bits
            if gap_ms > 0:
                begins += round(draw.expovariate(1 / gap_ms) * _PS_PER_SECOND / world.second_ms)


def complete(
    trace: FluidTrace, variant: Variant, progress: Callable[[int], object] | None = None
) -> Completions:
    """Runs one variant; `progress` is called with the number of flows that have ended. Raises
    UnavailableError without an engine, and InputError for what its model refuses."""
    engine = load_engine()
    try:
        ends, without_rate = engine.run_fluid(
            variant.scheduler,
            trace.racks,
            trace.world.rate_bps,
            trace.flows,
            preempt=variant.preempt,
            step_ps=trace.world.step_ps,
            only_whole_transfers=trace.world.only_whole_coflows,
            progress=progress,
        )
    except engine.EngineError as error:
        raise InputError(variant.name, "", str(error)) from error
    seconds = tuple((end - trace.arrivals[number]) / _PS_PER_SECOND for number, end in ends)
    return Completions(variant, seconds, without_rate)


class _StoppedError(Exception):
    """Ends a run whose result is no longer needed."""


def complete_all(trace: FluidTrace, progress: Callable[[Variant, int], object]) -> list[Completions]:
    """Runs every variant, as many at a time as there are cores; results are in the order of `VARIANTS`.

    `progress` is called in the threads that run them, also when a variant begins or has ended. If one fails,
    or the caller is interrupted, the others end before this function raises.
    """
    is_begun, is_stopped = threading.Event(), threading.Event()

    def completed(variant: Variant) -> Completions:
        def told(ended: int) -> None:
            if is_stopped.is_set():
                raise _StoppedError
            progress(variant, ended)

        is_begun.wait()  # on an interrupt, the pool knows all threads
        told(0)
        completions = complete(trace, variant, told)
        told(len(trace.flows))
        return completions

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            runs = [pool.submit(completed, variant) for variant in VARIANTS]
            is_begun.set()
            left = set(runs)
            while left:
                # Without a timeout, a wait can miss an interrupt that arrives just before it.
                ended, left = wait(left, timeout=_WAIT_SECONDS, return_when=FIRST_EXCEPTION)
                for run in ended:
                    run.result()
            return [run.result() for run in runs]
        except BaseException:
            is_stopped.set()
            is_begun.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
