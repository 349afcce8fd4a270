"""The judge of claim Q5: CoDel with and without marks (experiment `aqm`, chapter 5 of the E-EON thesis)."""

from eeon_experiments.claims.bands import LATENCY, point
from eeon_experiments.claims.model import Check, Checks, Judges, level, means, microseconds
from eeon_experiments.results import Results

TRANSPORTS = ("newreno", "ecn", "dctcp")


def _q5(results: Results) -> Checks:
    checks = []
    for number in (2, 4):
        delays = [
            level(results, LATENCY, point(buffer="deep", transport=transport, queue=f"codel_{number}"))
            for transport in TRANSPORTS
        ]
        ordered = delays[0].mean < delays[1].mean < delays[2].mean
        words = f"level {number}: drops, ECN, DCTCP {', '.join(one.text(microseconds) for one in delays)}"
        numbers = means(dict(zip(TRANSPORTS, delays, strict=True)), f"delay_us_{number}_")
        checks.append(Check(words, ordered, numbers=numbers))
    return Checks(checks)


JUDGES: Judges = {"Q5": _q5}
