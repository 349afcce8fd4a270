"""`eeon show` at terminals, rates, and damaged baselines; the rest is in `expected/scenarios/show.yaml`."""

import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from deeds import World
from eeon_command import at_terminal, eeon, place
from eeon_control import topology, views
from eeon_control.cli.show import baselines, watch
from eeon_control.cli.show.printing import as_table
from eeon_control.cli.terminal import Terminal
from eeon_control.fabric.read import FabricCounters, FabricObservation
from eeon_control.views.change import nonzero
from eeon_control.views.ecn import ecn
from eeon_control.views.pfc import pfc
from eeon_control.views.qcn import qcn
from scenarios import SCENARIOS, do, scenarios, wait

pytestmark = pytest.mark.system

BEGINS = scenarios(SCENARIOS / "show.yaml")["begins"]
RED, YELLOW, GREEN, RESET = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"


@pytest.fixture
def world(tmp_path, switches4, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    found = World(tmp_path, switches4)
    for step in BEGINS:
        do(found, step)
    return found


@pytest.fixture
def options(world):
    return place(world.folder, world.fabric.targets)


def test_time_since_clear_is_not_that_of_a_clock_that_was_set(options, monkeypatch):
    eeon("clear", "counters", *options)
    path = baselines.path_of("leaf-spine-4")
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0
    file = json.loads(path.read_text())
    file["taken_at"]["wall_seconds"] -= 3600
    path.write_text(json.dumps(file))
    passed = []
    monkeypatch.setattr(watch, "restarted", lambda *_, passed_us: passed.append(passed_us) or [])
    eeon("show", "ecn", *options)
    assert passed[0] < 3600 * 10**6
    # Version 0.1.0 wrote the time of day alone.
    file["taken_at"] = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    path.write_text(json.dumps(file))
    eeon("show", "ecn", *options)
    assert passed[1] >= 3600 * 10**6


def test_a_rate_is_what_happened_in_between_by_the_second(world, options, monkeypatch):
    monkeypatch.setattr(watch, "sleep", partial(wait, world))
    world.meanwhile = [{"counts": {"leaf1 3 data forwarded": [1010, 1_515_000]}}]
    shown = eeon("show", "ports", "--rate", "5s", "--port", "leaf1:3", "-o", "json", *options)
    (row,) = json.loads(shown.stdout)["rows"]
    assert "sent_packets" not in row
    assert row["sent_bytes_per_s"] == pytest.approx(1500 * row["sent_packets_per_s"])
    assert row["sent_packets_per_s"] > 0 and row["received_packets_per_s"] == 0
    bits_per_s = 8 * (row["sent_bytes_per_s"] + 24 * row["sent_packets_per_s"])
    assert row["utilisation_share"] == pytest.approx(bits_per_s / row["rate_bps"])


def test_top_goes_on_until_it_is_stopped(options, monkeypatch):
    turns = []

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "sleep", sleep)
    printed = eeon("top", "--interval", "7s", "--json", *options, code=0).stdout
    assert turns == [7.0, 7.0, 7.0] and len(printed.splitlines()) == 2


def test_watch_redraws_the_screen_of_a_terminal_and_leaves_it_as_it_was(options):
    screen = screen_of(options, 120, "queues", "--watch", "0.1s", "--count", "2")
    assert "\x1b[?1049h" in screen and "\x1b[?1049l" in screen  # xterm's alternate screen, on and off
    assert "leaf1:3" in screen and "97.5KB" in screen and "Ctrl-C ends" in screen


def screen_of(options, columns: int, *arguments: str, **variables: str) -> str:
    """Returns all output to a terminal of this width."""
    screen, code = at_terminal("show", *arguments, *options, columns=columns, **variables)
    assert code == 0
    return screen


def on_terminal(options, columns: int, *arguments: str) -> list[str]:
    """Returns the lines that a terminal of this width shows, without styles."""
    screen = screen_of(options, columns, *arguments)
    return re.sub(r"\x1b\[[0-9;]*m", "", screen).splitlines()


@pytest.mark.parametrize("columns", [160, 80, 60])
def test_on_a_narrow_terminal_keys_stay_whole_and_what_is_left_out_is_named(options, columns):
    for view, key in (("ports", "spine2:2"), ("eee", "spine2:2"), ("routes", "fd00:0:0:2::1/128")):
        lines = on_terminal(options, columns, view)
        assert all(len(line) <= columns for line in lines), lines
        assert any(key in line for line in lines), lines
    lines = on_terminal(options, columns, "ports")
    assert "dropped" in lines[1] and ("delay" in lines[1]) == (columns == 160)
    assert ("peer" in lines[1]) == (columns >= 80), "delay goes before peer"
    words = " ".join(line.strip() for line in lines)
    left_out = re.search("columns left out, terminal too narrow: ([a-z, ]*); --json has all", words)
    assert "delay" in left_out[1] if columns < 160 else "left out" not in words


def test_drops_marks_and_states_have_colours_on_a_terminal_that_wants_them(options):
    ports, ecn, states, counts = (
        screen_of(options, 160, view) for view in ("ports", "ecn", "fabric", "counters")
    )
    assert f"{RED}      2{RESET}" in ports and RED not in ports.partition("leaf1:3")[0]
    assert f"{YELLOW}     4{RESET}" in ecn and GREEN in states and RED not in states
    assert f"{RED}tail_dropped" in counts and f"{YELLOW}marked" in counts
    assert f"{RED}marked" not in counts and f"{RED}forwarded" not in counts
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", screen_of(options, 160, "ports", NO_COLOR="1"))
    assert "\x1b" not in eeon("show", "ports", *options).stdout


@pytest.mark.parametrize("make", [pfc, qcn])
def test_what_unreachable_switches_have_is_not_said_to_be_nothing(make):
    assert make(topology.load("leaf-spine-4"), FabricObservation({}, {"leaf1": "no answer"})).notes == []
    assert nonzero(ecn(FabricCounters((), ()))).notes == ecn(FabricCounters((), ())).notes


def test_at_80_columns_the_drops_of_lossless_classes_are_still_there():
    view = views.pfc.pfc(topology.load("leaf-spine-4"), FabricObservation({}, {}))
    numbers = {column.key: 61_000 for column in view.columns}
    view.rows.append(numbers | {"port": "leaf1:3", "priority": 3, "neighbour": "paused"})
    terminal = Terminal()
    terminal.width = 80
    with terminal.capture() as shown:
        terminal.print(as_table(view, 80))
    assert "dropped" in shown.get().split("left out")[0]
