"""TCP's settings in users' units, and as the engine reads them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from eeon_experiments.tcp import Tcp
from pydantic import ValidationError


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, {}),
        ({"timestamps": "1us"}, {"timestamps_ps": 1_000_000}),
        ({"timestamps": "off"}, {"timestamps_ps": None}),
        ({"algorithm": "dctcp", "l4s": True}, {"algorithm": "dctcp", "l4s": True}),
        ({"frto": True, "dsack": True}, {"frto": True, "dsack": True}),
        ({"algorithm": "ecn", "accecn": True}, {"algorithm": "ecn", "accecn": True}),
        ({"hystart": "off"}, {"hystart": None}),
        (
            {"hystart": {"min_rtt_thresh": "50us"}},
            {"hystart": {"min_rtt_thresh_ps": 5 * 10**7, "max_rtt_thresh_ps": 16 * 10**9}},
        ),
        ({"close": "never"}, {"fin": False}),
        ({"close": "fin"}, {"fin": True}),
        (
            {"dctcp_initial_alpha": 0.0, "ect_retransmissions": True},
            {"dctcp_initial_alpha": 0.0, "ect_retransmissions": True},
        ),
        ({"tsq": "0s"}, {"tsq_ps": 0}),
        ({"tsq": "off"}, {"tsq_ps": None}),
        ({"slow_start_limit": "unlimited"}, {"slow_start_limit": None}),
        (
            {"quick_acks": 16, "prr": True, "syn_retries": 0},
            {"quick_acks": 16, "prr": True, "syn_retries": 0},
        ),
        (
            {
                "syn_lost_rto": "20ms",
                "rto_slop": "200ms",
                "clock_granularity": "200ms",
                "time_wait": "1s",
            },
            {
                "syn_lost_rto_ps": 2 * 10**10,
                "rto_slop_ps": 2 * 10**11,
                "clock_granularity_ps": 2 * 10**11,
                "time_wait_ps": 10**12,
            },
        ),
    ],
)
def test_what_is_given_reaches_the_engine(given: dict[str, Any], told: dict[str, Any]) -> None:
    assert Tcp.model_validate(given).engine() == told


@pytest.mark.parametrize(
    "given",
    [
        {"timestamps": "0s"},
        {"slow_start_limit": 0},
        {"quick_acks": -1},
        {"syn_retries": 1.5},
        {"prr": 1},
        {"close": "rst"},
        {"dctcp_initial_alpha": 1.5},
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Tcp.model_validate(given)


@pytest.mark.parametrize(
    ("given", "warns"),
    [
        ({}, False),
        ({"min_rto": "10ms"}, True),
        ({"min_rto": "40ms"}, True),
        ({"min_rto": "10ms", "delayed_ack": "off"}, False),
        ({"min_rto": "10ms", "delayed_ack": {"segments": 2, "timer": "1ms"}}, False),
        ({"delayed_ack": {"segments": 2, "timer": "200ms"}}, True),
    ],
)
def test_a_time_out_within_the_delay_of_acks_is_warned_of(given: dict[str, Any], warns: bool) -> None:
    advice = Tcp.model_validate(given).advice()
    assert len(advice) == warns
    assert all("min_rto" in one and "delayed_ack" in one for one in advice)


def test_the_algorithms_are_those_of_the_engine() -> None:
    engine = pytest.importorskip("eeon_engine", reason="the engine is not built; `make setup` builds it")
    assert set(get_args(Tcp.model_fields["algorithm"].annotation)) == set(engine.TCP_NAMES)
