"""`eeon top` on switches that carry a transfer between two readings."""

import json

import pytest
from eeon_command import eeon
from eeon_control.cli.show import watch

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from show_document import carry, fabric

pytestmark = pytest.mark.system

MARKED, DROPPED, SENT = 452, 128, 472  # of leaf2:1 in one transfer, as in docs/run/show.md


@pytest.fixture
def running():
    with fabric() as found:
        yield found


@pytest.fixture
def transfer_in_each_interval(running, monkeypatch):
    """Replaces waiting, so that the test does not depend on the computer's speed."""
    monkeypatch.setattr(watch, "sleep", lambda seconds: carry(running))


def top(*words: str):
    return eeon("top", *words, code=0).stdout


def test_ports_are_shown_by_load_with_marks_drops_and_their_cause(transfer_in_each_interval):
    rows = json.loads(top("--once", "--json"))["rows"]
    by_port = {row["port"]: row for row in rows}
    assert len(rows) == 12 and rows[0]["used_share"] == max(row["used_share"] for row in rows) > 0
    busiest = by_port["leaf2:1"]
    assert busiest["marked_per_s"] / busiest["dropped_per_s"] == pytest.approx(MARKED / DROPPED)
    assert busiest["sent_bytes_per_s"] / busiest["marked_per_s"] == pytest.approx(SENT * 1514 / MARKED)
    assert busiest["drop_causes"].startswith("tail dropped") and busiest["link"] == "up"
    assert {row["occupancy_bytes"] for row in rows} == {0}
    others = [row for row in rows if row["port"] != "leaf2:1"]
    assert {(row["marked_per_s"], row["dropped_per_s"], row["drop_causes"]) for row in others} == {(0, 0, "")}


def test_it_can_be_sorted_and_filtered_and_ends_after_one_interval_if_asked(transfer_in_each_interval):
    lines = top("--once", "--only", "drops", "--sort", "port").splitlines()
    assert [line.split()[0] for line in lines if ":" in line.split()[0]] == ["leaf2:1"]
    assert lines[0].startswith("ports, over ") and "11 of 12 rows left out by --only" in lines[-1]
    ports = [row["port"] for row in json.loads(top("--once", "--json", "--sort", "port"))["rows"]]
    assert ports == sorted(ports)
    reverse = [
        row["port"] for row in json.loads(top("--once", "--json", "--sort", "port", "--reverse"))["rows"]
    ]
    assert reverse == ports[::-1]


def test_what_sleeps_is_told(running, monkeypatch):
    """Without packets, the registers of a port that has slept since its last frame do not change."""
    monkeypatch.setattr(watch, "sleep", lambda seconds: None)
    rows = {row["port"]: row for row in json.loads(top("--once", "--json", "--switch", "leaf1"))["rows"]}
    assert set(rows) == {"leaf1:1", "leaf1:2", "leaf1:3", "leaf1:4"}
    assert all(row["used_share"] == 0 and row["lpi_share"] is not None for row in rows.values())


def test_it_goes_on_until_it_is_stopped(running, monkeypatch):
    turns = []

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "sleep", sleep)
    printed = top("--interval", "7s", "--json")
    assert turns == [7.0, 7.0, 7.0] and len(printed.splitlines()) == 2
