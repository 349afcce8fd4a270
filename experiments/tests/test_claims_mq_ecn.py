"""MQ1 to MQ3 with rows that match the paper's claims, and with rows that do not."""

from __future__ import annotations

import pytest
from eeon_experiments.results import Results, Row
from parts_of import claims_of, finished_row

CLAIMS = {claim.id: claim for claim in claims_of("mq_ecn")}
RUNTIME, LATENCY = "runtime_seconds", "latency_mean_us"
OTHERS = (1, 2, 4, 8, 16)
PAPER: dict[tuple[str, str], tuple[float, float]] = {
    **{(f"against_{n}", "port_32"): (0.2 * (1 + n), 170.0) for n in OTHERS},
    **{(f"against_{n}", "queue_32"): (0.4, 340.0) for n in OTHERS},
    **{("against_0", marking): (0.2, 10.0) for marking in ("port_32", "queue_32", "queue_5")},
    ("queues_1", "port_32"): (0.17, 170.0),
    ("queues_1", "queue_32"): (0.17, 170.0),
    ("queues_1", "queue_5"): (0.2, 40.0),
    ("queues_7", "port_32"): (1.2, 170.0),
    ("queues_7", "queue_32"): (1.2, 1190.0),
    ("queues_7", "queue_5"): (1.2, 200.0),
}


def rows(changed: dict[tuple[str, str], tuple[float, float]] | None = None) -> list[Row]:
    return [
        finished_row({"traffic": traffic, "marking": marking}, {RUNTIME: seconds, LATENCY: latency}, seed)
        for (traffic, marking), (seconds, latency) in {**PAPER, **(changed or {})}.items()
        for seed in (1, 2)
    ]


def outcome(name: str, found: list[Row]) -> str:
    return CLAIMS[name].judge(Results(found)).outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_rows_as_the_paper_has_them_reproduce_its_claim(name: str) -> None:
    assert outcome(name, rows()) == "reproduced"


@pytest.mark.parametrize(
    ("name", "point", "numbers"),
    [
        ("MQ1", ("against_4", "port_32"), (0.2 / 0.36, 170.0)),  # too much for one flow of five
        ("MQ1", ("against_16", "port_32"), (0.2 / 0.3, 170.0)),  # more than with eight flows
        ("MQ1", ("against_8", "queue_32"), (0.2 / 0.44, 340.0)),
        ("MQ2", ("queues_7", "queue_32"), (1.2, 500.0)),
        ("MQ2", ("queues_7", "port_32"), (1.2, 400.0)),
        ("MQ3", ("queues_7", "queue_5"), (1.2, 600.0)),
        ("MQ3", ("queues_1", "queue_5"), (0.175, 40.0)),
    ],
)
def test_rows_that_are_not_so_differ(name: str, point: tuple[str, str], numbers: tuple[float, float]) -> None:
    assert outcome(name, rows({point: numbers})) == "differs"
