"""C1 and C3: the short-and-fat paper's claims on one hot spot (Crisan et al., HotI 2011)."""

import json
from collections.abc import Mapping

from eeon_experiments.claims.model import Check, Checks, Judges, Missing, Point, level, share
from eeon_experiments.results import Results, Spread, Value

_EPISODES = ("episode", "short_episode")
_LONG = {"second": 250_000_000, "tenth": 25_000_000}
_LEAST_LEVEL, _LEAST_FALLS, _LEAST_SHARE = 0.8, 3, 0.4
# Payload rate of full frames, including all overhead on the wire.
_PAYLOAD_BPS = 10e9 * 1460 / 1538


def _there(results: Results, cases: tuple[str, ...], **point: str) -> str:
    """Returns the first case that was run. Raises Missing."""
    for case in cases:
        if results.select(case=case, **point).finished:
            return case
    raise Missing(f"no run of {' or '.join(cases)}")


def _shape(results: Results, point: Point) -> tuple[Spread, Spread, Spread]:
    return (
        level(results, "queue_level_share", point),
        level(results, "queue_falls", point),
        level(results, "tail_dropped_data", point),
    )


def _c1(results: Results) -> Checks:
    case = _there(results, _EPISODES, tcp="newreno", queue="drop_tail")

    def at(pfc: str) -> Point:
        return {"case": case, "tcp": "newreno", "queue": "drop_tail", "pfc": pfc}

    with_pfc, _, lost_with = _shape(results, at("headroom"))
    _, falls, lost = _shape(results, at("off"))
    step = with_pfc.low >= _LEAST_LEVEL and lost_with.high == 0
    sawtooth = falls.low >= _LEAST_FALLS and lost.low > 0
    return Checks(
        [
            Check(
                f"with PFC {with_pfc.text(share)} of a congested queue's samples are near its maximum, "
                f"{lost_with.high:.0f} packets dropped",
                step,
            ),
            Check(f"without it it falls by half {falls} times, and {lost} packets are dropped", sawtooth),
        ],
        {"level_with_pfc": with_pfc.mean, "falls_without": falls.mean, "dropped_without": lost.mean},
    )


def first_share(row: Mapping[str, Value], case: str) -> float | None:
    """Returns the first finished flow's share of the link until its end; None if none has finished."""
    told = row.get("coflow_completions_json")
    ended = [seconds for seconds in json.loads(told).values() if seconds] if isinstance(told, str) else []
    return 8 * _LONG[case] / min(ended) / _PAYLOAD_BPS if ended else None


def largest_share(results: Results, case: str, queue: str, pfc: str) -> Spread:
    """Returns the first finished flow's share of the link until its end, over seeds. Raises Missing."""
    rows = results.select(case=case, tcp="newreno", queue=queue, pfc=pfc, unknown=None).finished
    shares = [one for row in rows if (one := first_share(row, case)) is not None]
    if not shares:
        raise Missing(f"no completions of {case} with {queue} and PFC {pfc}")
    return Spread.of(shares)


def _c3(results: Results) -> Checks:
    case = _there(results, tuple(_LONG), queue="qcn_66")
    largest = largest_share(results, case, "qcn_66", "headroom")
    without = largest_share(results, case, "qcn_66", "off")
    return Checks(
        [
            Check(f"the largest share of a flow is {largest.text(share)}", largest.low >= _LEAST_SHARE),
            Check(f"without PFC {without.text(share)}", holds=True, part=False),
        ],
        {"largest_share": largest.mean, "largest_share_without_pfc": without.mean},
    )


JUDGES: Judges = {"C1": _c1, "C3": _c3}
