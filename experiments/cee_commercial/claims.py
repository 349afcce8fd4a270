"""C2, C4, C5 and C6: the short-and-fat paper's claims on commercial traffic (Crisan et al., HotI 2011).

Query completion times are compared seed by seed, and each setting with its counterpart under the same TCP.
"""

from collections.abc import Mapping

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Judges,
    Point,
    by_seed,
    change,
    level,
    mean,
    mean_by_seed,
    means,
    microseconds,
    percent,
    within,
)
from eeon_experiments.results import Results, Spread

_TCPS = {"newreno": "NewReno", "cubic": "CUBIC", "vegas": "Vegas"}
_QUEUES = {"drop_tail": "drop tail", "red": "RED", "qcn_20": "QCN/20", "qcn_66": "QCN/66"}
TCPS, QUEUES = tuple(_TCPS), tuple(_QUEUES)
_QUERY = "query_mean_us"
_LEAST_WITHOUT_GAIN = 0.98
_VEGAS_DEEPEST_BYTES = 80_000
_VEGAS_CHANGE = 0.05
# Half of 131 % to twice 311 %.
_WORSE = (0.65, 6.22)


def at(tcp: str, queue: str, pfc: str) -> Point:
    """Returns a point with the assumed values of the unknowns."""
    return {"tcp": tcp, "queue": queue, "pfc": pfc, "unknown": None}


def by_pfc(results: Results, tcp: str, queue: str) -> Spread:
    """Returns the change of the mean query time by PFC. Raises Missing."""
    return change(results, _QUERY, at(tcp, queue, "headroom"), at(tcp, queue, "off"))


def _c2(results: Results) -> Checks:
    checks = []
    for tcp in TCPS:
        for queue in QUEUES:
            found = by_pfc(results, tcp, queue)
            holds = found.mean >= _LEAST_WITHOUT_GAIN - 1 if queue == "qcn_20" else found.mean < 0
            words = f"{_TCPS[tcp]}, {_QUEUES[queue]}: {found.text(percent)}"
            checks.append(Check(words, holds, numbers={f"{tcp}_{queue}": found.mean}))
    return Checks(checks)


def _mean_over(results: Results, points: list[Point]) -> Spread:
    """Returns the mean of several points' mean query times, by seed. Raises Missing."""
    return mean_by_seed([by_seed(results, _QUERY, point) for point in points])


def _taken(found: Mapping[str, Spread], names: Mapping[str, str]) -> str:
    return ", ".join(f"{one.text(microseconds)} with {names[name]}" for name, one in found.items())


def _kilobytes(value: float) -> str:
    return f"{value / 1000:.1f} KB"


def _c4(results: Results) -> Checks:
    deepest = level(results, "queue_max_bytes_host_facing", at("vegas", "drop_tail", "off"))
    lost = level(results, "tail_dropped_data", at("vegas", "drop_tail", "off"))
    changed = by_pfc(results, "vegas", "drop_tail")
    found = {
        tcp: _mean_over(results, [at(tcp, "drop_tail", pfc) for pfc in ("off", "headroom")]) for tcp in TCPS
    }
    best = min(found, key=lambda tcp: found[tcp].mean)
    return Checks(
        [
            Check(f"queues of {deepest.text(_kilobytes)} at most", deepest.high < _VEGAS_DEEPEST_BYTES),
            Check(f"{lost} packets dropped", lost.high == 0),
            Check(f"PFC changes queries by {changed.text(percent)}", abs(changed.mean) < _VEGAS_CHANGE),
            Check(
                "queries take "
                + ", ".join(f"{found[tcp].text(microseconds)} with {_TCPS[tcp]}" for tcp in TCPS),
                best == "vegas",
            ),
        ],
        {"deepest_bytes": deepest.mean, "by_pfc": changed.mean} | means(found),
    )


def _c5(results: Results) -> Checks:
    checks = []
    for queue in ("drop_tail", "red"):
        found = {tcp: level(results, _QUERY, at(tcp, queue, "off")) for tcp in TCPS}
        worst = max(found, key=lambda tcp: found[tcp].mean)
        numbers = means(found, f"{queue}_")
        checks.append(Check(f"{_QUEUES[queue]}: {_taken(found, _TCPS)}", worst == "cubic", numbers=numbers))
    return Checks(checks)


def _c6(results: Results) -> Checks:
    checks = []
    for pfc, words in (("off", "without PFC"), ("headroom", "with PFC")):
        found = {queue: _mean_over(results, [at(tcp, queue, pfc) for tcp in TCPS]) for queue in QUEUES[1:]}
        best = min(found, key=lambda queue: found[queue].mean)
        numbers = {f"{queue}_{pfc}": one.mean for queue, one in found.items()}
        checks.append(Check(f"{words}: {_taken(found, _QUEUES)}", best == "red", numbers=numbers))
    changes = [change(results, _QUERY, at(tcp, "qcn_20", "off"), at(tcp, "drop_tail", "off")) for tcp in TCPS]
    words = "QCN/20 without PFC against no QCN:"
    return Checks([*checks, within(mean(changes), *_WORSE, words, name="qcn_20_against_none")])


JUDGES: Judges = {"C2": _c2, "C4": _c4, "C5": _c5, "C6": _c6}
