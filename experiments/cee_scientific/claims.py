"""C7: the short-and-fat paper's claim on scientific traffic (Crisan et al., HotI 2011)."""

import math

from eeon_experiments.claims.model import Check, Checks, Judges, by_seed, of_common_seeds
from eeon_experiments.results import Results, Spread

BENCHMARKS = ("is", "ft", "cg", "mg", "bt")
_QUEUES = {"drop_tail": "drop tail", "red": "RED", "qcn_20": "QCN/20", "qcn_66": "QCN/66"}
_RUNTIME = "runtime_seconds"


def benchmarks(results: Results) -> tuple[str, ...]:
    """Returns all five benchmarks, or the three in the quick form."""
    return BENCHMARKS if results.select(benchmark=list(BENCHMARKS[3:])).rows else BENCHMARKS[:3]


def sums(results: Results, queue: str, pfc: str) -> Spread:
    """Returns the sum of the benchmarks' runtimes in seconds, by seed. Raises Missing."""
    there = benchmarks(results)
    found = [
        by_seed(results, _RUNTIME, {"benchmark": one, "queue": queue, "pfc": pfc, "unknown": None})
        for one in there
    ]
    by_benchmark = of_common_seeds(found, f"the benchmarks with {queue} and PFC {pfc}")
    return Spread.of([math.fsum(one) for one in by_benchmark.values()])


def _ms(value: float) -> str:
    return f"{value * 1e3:.1f} ms"


def _c7(results: Results) -> Checks:
    found = {(queue, pfc): sums(results, queue, pfc) for queue in _QUEUES for pfc in ("off", "headroom")}
    best = min(found, key=lambda one: found[one].mean)
    without = {queue: found[queue, "off"] for queue in _QUEUES}
    best_without = min(without, key=lambda queue: without[queue].mean)

    def told(pfc: str) -> str:
        return ", ".join(f"{_QUEUES[queue]} {found[queue, pfc].text(_ms)}" for queue in _QUEUES)

    return Checks(
        [
            Check(
                f"{', '.join(benchmarks(results)).upper()} together with PFC {told('headroom')}",
                best == ("red", "headroom"),
            ),
            Check(f"without {told('off')}", best_without == "qcn_20"),
        ],
        {f"{queue}_{pfc}": one.mean for (queue, pfc), one in found.items()},
    )


JUDGES: Judges = {"C7": _c7}
