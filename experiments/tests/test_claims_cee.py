"""C1 to C7 with rows that match the paper's claims, and with rows that do not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from eeon_experiments.results import Results, Row, Value
from parts_of import claims_of, finished_row

CLAIMS = {
    claim.id: claim for name in ("cee_queue", "cee_commercial", "cee_scientific") for claim in claims_of(name)
}
TCPS = ("newreno", "cubic", "vegas")
QUEUES = ("drop_tail", "red", "qcn_20", "qcn_66")
PFC = ("off", "headroom")
Values = dict[str, Value]


def shape(pfc: str) -> Values:
    if pfc == "off":
        return {"queue_level_share": 0.4, "queue_falls": 5, "tail_dropped_data": 90}
    return {"queue_level_share": 0.95, "queue_falls": 1, "tail_dropped_data": 0}


def hot_spot(first_seconds: float = 0.45, of_pfc: Callable[[str], Values] = shape) -> list[Row]:
    told = json.dumps({"hot_spot/a": first_seconds, "hot_spot/b": 1.0})
    return [
        finished_row(
            {"case": case, "tcp": "newreno", "queue": queue, "pfc": pfc}, {**values, **of_pfc(pfc)}, seed
        )
        for case, queue, values in (
            ("episode", "drop_tail", {}),
            ("second", "qcn_66", {"coflow_completions_json": told}),
        )
        for pfc in PFC
        for seed in (1, 2)
    ]


def query_us(tcp: str, queue: str, pfc: str) -> float:
    """Returns times as in the paper: PFC helps except QCN/20; Vegas is best, CUBIC worst; RED beats QCN."""
    base = {"newreno": 1000.0, "cubic": 1200.0, "vegas": 800.0}[tcp]
    factor = {"drop_tail": 1.0, "red": 0.9, "qcn_20": 3.0, "qcn_66": 1.5}[queue]
    helped = 0.97 if pfc == "headroom" and queue != "qcn_20" else 1.0
    return base * factor * helped


def queries(
    of: Callable[[str, str, str], float] = query_us, deepest: int = 70_000, dropped: int = 0
) -> list[Row]:
    return [
        finished_row(
            {"tcp": tcp, "queue": queue, "pfc": pfc, "unknown": None},
            {
                "query_mean_us": of(tcp, queue, pfc) * (1 + 0.01 * seed),
                "queue_max_bytes_host_facing": deepest,
                "tail_dropped_data": dropped,
            },
            seed,
        )
        for tcp in TCPS
        for queue in QUEUES
        for pfc in PFC
        for seed in (1, 2)
    ]


def phases(best: tuple[str, str] = ("red", "headroom"), best_without: str = "qcn_20") -> list[Row]:
    def seconds(queue: str, pfc: str) -> float:
        return 0.1 - 0.05 * ((queue, pfc) == best) - 0.02 * ((queue, pfc) == (best_without, "off"))

    return [
        finished_row(
            {"benchmark": benchmark, "queue": queue, "pfc": pfc, "unknown": None},
            {"runtime_seconds": seconds(queue, pfc)},
            seed,
        )
        for benchmark in ("is", "ft", "cg", "mg", "bt")
        for queue in QUEUES
        for pfc in PFC
        for seed in (1, 2)
    ]


def outcome(name: str, rows: list[Row]) -> str:
    return CLAIMS[name].judge(Results(rows)).outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_rows_as_the_paper_has_them_reproduce_its_claim(name: str) -> None:
    rows = {"C1": hot_spot, "C3": hot_spot, "C7": phases}.get(name, queries)()
    found = CLAIMS[name].judge(Results(rows))
    assert found.outcome == "reproduced", found.measured


def slower(tcp: str, queue: str, pfc: str, factor: float) -> Callable[[str, str, str], float]:
    def of(one: str, other: str, third: str) -> float:
        return query_us(one, other, third) * (factor if (one, other, third) == (tcp, queue, pfc) else 1)

    return of


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("C1", hot_spot(of_pfc=lambda pfc: {**shape(pfc), "queue_falls": 2})),
        ("C1", hot_spot(of_pfc=lambda pfc: {**shape(pfc), "tail_dropped_data": 7})),
        ("C1", hot_spot(of_pfc=lambda pfc: {**shape(pfc), "queue_level_share": 0.79})),
        # Alone, 250 MB of payload take 0.2107 s, which is 39 % of the link.
        ("C3", hot_spot(first_seconds=0.54)),
        ("C2", queries(slower("cubic", "red", "headroom", 1.1))),
        ("C2", queries(slower("newreno", "qcn_20", "headroom", 0.9))),
        ("C4", queries(deepest=80_000)),
        ("C4", queries(dropped=1)),
        ("C4", queries(slower("vegas", "drop_tail", "headroom", 1.1))),
        ("C4", queries(slower("newreno", "drop_tail", "off", 0.5))),
        ("C5", queries(slower("vegas", "red", "off", 2))),
        ("C6", queries(slower("cubic", "red", "headroom", 3))),
        ("C6", queries(lambda *point: query_us(*point) * (0.5 if point[1] == "qcn_20" else 1))),
        ("C6", queries(lambda *point: query_us(*point) * (2.5 if point[1] == "qcn_20" else 1))),
        ("C7", phases(best=("drop_tail", "headroom"))),
        ("C7", phases(best_without="qcn_66")),
    ],
)
def test_rows_beyond_a_band_differ(name: str, rows: list[Row]) -> None:
    assert outcome(name, rows) == "differs"


def test_benchmarks_of_which_one_is_missing_are_not_judged() -> None:
    rows = [row for row in phases() if row["axis_benchmark"] != "bt"]
    assert outcome("C7", rows) == "not measured"
