"""`eeon show` and `eeon clear`: rows, filters, baselines, rates, repeated blocks, switches that do not answer."""

import importlib
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from eeon_command import Command, at_terminal, eeon, place
from eeon_control import program, topology
from eeon_control.cli.show import baselines, watch
from eeon_control.fabric import sync
from eeon_control.fabric.read import FabricCounters, FabricObservation
from eeon_control.views.change import nonzero
from eeon_control.views.ecn import ecn
from eeon_control.views.pfc import pfc
from eeon_control.views.qcn import qcn

pytestmark = pytest.mark.system

WATCH = importlib.import_module("eeon_control.cli.show.watch")
CONFIG = ["-c", "red_ack_syn", "-c", "eee_120us100"]
VIEWS = ("fabric", "ports", "queues", "ecn", "eee", "counters")
FORWARDED, MARKED, TAIL_DROPPED, NO_ROUTE = 0, 1, 3, 4
RESET = "\x1b[0m"
DATA, ACK = 0, 1


class Fabric(Command):
    """Fake switches that run the program, and their counters and registers."""

    def __init__(self, folder, fakes) -> None:
        super().__init__(folder, fakes)
        schema = program.load().schema()
        self.registers = {
            name: schema.registers[name].id for name in ("occupancy_bytes", "eee_state", "lpi_ticks", "wakes")
        }
        self.counters = {name: schema.counters[name].id for name in ("verdicts", "received")}

    def rows(self, *arguments: str) -> list[dict]:
        return self.document(*arguments)["rows"]

    def row(self, port: str, *arguments: str) -> dict:
        return next(row for row in self.rows(*arguments) if row["port"] == port)

    def verdict(self, switch: str, port: int, kind: int, verdict: int, packets: int, size: int) -> None:
        self.fakes.switches[switch].counters[self.counters["verdicts"], port << 7 | kind << 4 | verdict] = (
            packets,
            size,
        )

    def move(self, *names: str) -> None:
        """Serves these switches at other addresses, which the targets file then has."""
        for name in names:
            sync.run(self.fakes.switches[name].stop())
            sync.run(self.fakes.switches[name].__aenter__())
        place(self.folder, self.fakes.targets)

    def register(self, switch: str, name: str, port: int, value: int) -> None:
        self.fakes.switches[switch].registers[self.registers[name], port] = value


@pytest.fixture
def fabric(tmp_path, fakes, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Fabric(tmp_path, fakes)
    eeon("config", "apply", *CONFIG, *made.options, code=0)
    made.verdict("leaf1", 3, DATA, FORWARDED, 10, 15_000)
    made.verdict("leaf1", 3, DATA, MARKED, 4, 6000)
    made.verdict("leaf1", 3, ACK, TAIL_DROPPED, 2, 120)
    made.fakes.switches["leaf1"].counters[made.counters["received"], 1 << 3 | DATA] = (16, 21_120)
    made.register("leaf1", "occupancy_bytes", 3, 97_500)
    made.register("leaf1", "eee_state", 3, 1)
    made.register("leaf1", "lpi_ticks", 3, 2_500_000)
    made.register("leaf1", "wakes", 3, 12)
    return made


def test_every_view_is_a_table_for_people_and_a_document_for_programs(fabric):
    for view in VIEWS:
        shown, document = fabric.show(view), fabric.document(view)
        assert shown.exit_code == 0 and shown.stdout
        assert (document["view"], document["topology"], document["unreachable"]) == (view, "leaf-spine-4", {})
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["taken_at"])
        assert document["rows"]


def test_rows_hold_counters_and_registers_in_base_units(fabric):
    assert {row["status"] for row in fabric.rows("fabric")} == {"ready"}
    port = fabric.row("leaf1:3", "ports")
    assert (port["sent_packets"], port["sent_bytes"], port["dropped_packets"]) == (14, 21_000, 2)
    assert fabric.row("leaf1:1", "ports")["received_packets"] == 16
    assert fabric.row("leaf1:3", "queues") == {
        "port": "leaf1:3",
        "occupancy_bytes": 97_500,
        "occupancy_packets": 0,
        "buffer_bytes": 300_000,
        "buffer_packets": None,
        "held_packets": "inside",
        "aqm": "red 125pkt..375pkt, up to 1, ECN, protect ack_syn",
    }
    assert fabric.row("leaf1:3", "eee") == {
        "port": "leaf1:3",
        "mode": "coalesce",
        "stall_ps": 0,
        "sleep_ps": 2_880_000,
        "wake_ps": 4_480_000,
        "hold_ps": 120_000_000,
        "trigger": "100pkt",
        "state": "hold",
        "held_packets": 0,
        "lpi_ps": 2_500_000_000,
        "lpi_share": None,
        "wakes": 12,
    }
    assert "97.5KB" in fabric.show("queues").stdout and "2.5ms" in fabric.show("eee").stdout


def test_nonzero_leaves_only_rows_with_something_counted(fabric):
    zero = dict.fromkeys(("forwarded", "marked", "early_dropped", "tail_dropped"), 0)
    assert fabric.rows("ecn", "--nonzero") == [
        {"port": "leaf1:3", "class": "data", **zero, "forwarded": 10, "marked": 4, "marked_share": 4 / 14},
        {"port": "leaf1:3", "class": "ack", **zero, "tail_dropped": 2, "marked_share": None},
    ]
    assert len(fabric.rows("counters", "--nonzero")) == 4


def test_filters_by_switch_port_and_role_hold_together(fabric):
    uplinks = fabric.rows("queues", "--switch", "leaf1", "--role", "uplink")
    assert [row["port"] for row in uplinks] == ["leaf1:3", "leaf1:4"]
    named = fabric.rows("ports", "--port", "spine1:2", "--port", "leaf2:1")
    assert [row["port"] for row in named] == ["leaf2:1", "spine1:2"]
    assert [row["switch"] for row in fabric.rows("fabric", "--role", "spine")] == ["spine1", "spine2"]


def test_a_switch_that_does_not_answer_is_named_and_the_others_are_shown(fabric):
    sync.run(fabric.fakes.switches["spine1"].stop())
    for view in (*VIEWS, "energy"):
        result = fabric.show(view, "-o", "json", *(["--rate", "0.05s"] if view == "energy" else []))
        document = json.loads(result.stdout)
        assert result.exit_code == 1
        assert "spine1 (127.0.0.1:" in result.stderr
        assert list(document["unreachable"]) == ["spine1"]
        names = {row.get("switch") or row["port"].partition(":")[0] for row in document["rows"]}
        assert {"leaf1", "leaf2", "spine2"} <= names
        assert ("spine1" in names) == (view == "fabric"), "show fabric has a row that says why"


def test_a_switch_without_the_program_is_left_out_and_told(fabric):
    fabric.fakes.switches["leaf2"].config = None
    result = fabric.show("ports", code=1)
    assert "leaf2: does not run this program; `eeon config apply` loads it" in result.stderr
    assert "\nleaf1:1" in result.stdout and "\nleaf2:" not in result.stdout


def test_a_thrift_server_that_does_not_answer_costs_the_clock_and_not_the_rows(fabric):
    targets = {
        name: {"address": address, "thrift": "127.0.0.1:1"} for name, address in fabric.fakes.targets.items()
    }
    place(fabric.folder, targets)
    result = fabric.show("ports", "-o", "json", code=1)
    assert "leaf1 (Thrift 127.0.0.1:1): Connection refused" in result.stderr
    document = json.loads(result.stdout)
    assert len(document["rows"]) == 12 and document["unreachable"] == {}


def test_without_registers_the_rest_is_shown_and_the_way_to_them_told(fabric):
    for switch in fabric.fakes.switches.values():
        switch.refuse_registers = True
    shown = fabric.show("queues", code=0)
    assert "300KB" in shown.stdout and "97.5KB" not in shown.stdout
    assert "this target serves no registers over P4Runtime, as BMv2; give `thrift`" in shown.stdout


def test_after_clear_only_what_came_later_is_shown_and_the_switch_is_untouched(fabric):
    before = dict(fabric.fakes.switches["leaf1"].counters)
    cleared = eeon("clear", "counters", *fabric.options, code=0)
    assert "counters of 4 switches" in cleared.stdout
    assert fabric.fakes.switches["leaf1"].counters == before
    assert fabric.rows("ecn", "--nonzero") == []
    assert fabric.row("leaf1:3", "ports")["sent_packets"] == 0
    fabric.verdict("leaf1", 3, DATA, MARKED, 5, 7500)
    assert [row["marked"] for row in fabric.rows("ecn", "--nonzero")] == [1]
    assert fabric.row("leaf1:3", "ports")["sent_bytes"] == 1500
    assert fabric.row("leaf1:3", "ports", "--raw")["sent_packets"] == 15
    assert any("since `eeon clear counters`" in note for note in fabric.document("ecn")["notes"])
    eeon("clear", "counters", *fabric.options, "--undo", code=0)
    assert fabric.row("leaf1:3", "ports")["sent_packets"] == 15


def test_a_restarted_switch_is_noticed_and_shown_from_its_start(fabric):
    fabric.verdict("leaf2", 3, DATA, FORWARDED, 9, 9000)
    eeon("clear", "counters", *fabric.options)
    fabric.verdict("leaf1", 3, DATA, FORWARDED, 3, 4500)
    document = fabric.document("ecn", "--nonzero")
    assert [row["forwarded"] for row in document["rows"]] == [3, 0]
    assert "restarted since then, so counted from the restart: leaf1" in document["notes"]


def test_time_since_clear_is_not_that_of_a_clock_that_was_set(fabric, monkeypatch):
    eeon("clear", "counters", *fabric.options)
    path = baselines.path_of("leaf-spine-4")
    file = json.loads(path.read_text())
    file["taken_at"]["wall_seconds"] -= 3600
    path.write_text(json.dumps(file))
    passed = []
    monkeypatch.setattr(watch, "restarted", lambda *_, passed_us: passed.append(passed_us) or [])
    fabric.document("ecn")
    assert passed[0] < 3600 * 10**6
    # Version 0.1.0 wrote the time of day alone.
    file["taken_at"] = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    path.write_text(json.dumps(file))
    fabric.document("ecn")
    assert passed[1] >= 3600 * 10**6


def test_when_every_switch_has_restarted_the_zero_point_is_told_of_no_more(fabric):
    eeon("clear", "counters", *fabric.options)
    for switch in fabric.fakes.switches.values():
        switch.counters.clear()
    fabric.verdict("leaf1", 3, DATA, FORWARDED, 3, 4500)
    document = fabric.document("ecn", "--nonzero")
    assert [row["forwarded"] for row in document["rows"]] == [3]
    assert not [note for note in document["notes"] if "clear" in note or "restarted" in note]


def test_another_fabric_of_the_same_topology_is_not_told_of_the_zero_point(fabric):
    eeon("clear", "counters", *fabric.options)
    fabric.move(*fabric.fakes.switches)
    assert not [note for note in fabric.document("ecn")["notes"] if "clear" in note]


def test_a_baseline_of_another_switch_of_the_same_name_is_not_used(fabric):
    eeon("clear", "counters", *fabric.options)
    fabric.move("leaf1")
    assert fabric.row("leaf1:3", "ports")["sent_packets"] == 14


def test_the_baseline_is_for_its_owner_alone_and_a_damaged_one_is_told(fabric):
    eeon("clear", "counters", *fabric.options)
    path = baselines.path_of("leaf-spine-4")
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0
    path.write_text('{"taken_at": 3')
    result = fabric.show("ecn", code=1)
    assert f"{path}: is not what `eeon clear counters` writes" in result.stderr
    fabric.show("ecn", "--raw", code=0)


def test_a_rate_is_what_happened_in_between_by_the_second(fabric, monkeypatch):
    def traffic(_: float) -> None:
        fabric.verdict("leaf1", 3, DATA, FORWARDED, 1010, 1_515_000)

    monkeypatch.setattr(WATCH, "sleep", traffic)
    row = fabric.row("leaf1:3", "ports", "--rate", "5s")
    assert "sent_packets" not in row
    assert row["sent_bytes_per_s"] == pytest.approx(1500 * row["sent_packets_per_s"])
    assert row["sent_packets_per_s"] > 0 and row["received_packets_per_s"] == 0
    bits_per_s = 8 * (row["sent_bytes_per_s"] + 24 * row["sent_packets_per_s"])
    assert row["utilisation_share"] == pytest.approx(bits_per_s / row["rate_bps"])


def test_no_rate_is_made_up_for_a_switch_that_restarted_in_between(fabric, monkeypatch):
    monkeypatch.setattr(WATCH, "sleep", lambda _: fabric.verdict("leaf1", 3, DATA, FORWARDED, 1, 1500))
    document = fabric.document("ports", "--rate", "5s")
    rates = [row["sent_packets_per_s"] for row in document["rows"] if row["port"].startswith("leaf1:")]
    assert rates == [None] * 4
    assert "leaf1 has restarted; no rate yet" in document["notes"]


def test_switch_that_answers_only_at_the_end_of_an_interval_is_noted(fabric, monkeypatch):
    leaf1 = fabric.fakes.switches["leaf1"]
    leaf1.refuses_to_read_as = "busy"
    monkeypatch.setattr(WATCH, "sleep", lambda _: setattr(leaf1, "refuses_to_read_as", ""))
    (note,) = [note for note in fabric.document("ports", "--rate", "5s")["notes"] if "leaf1" in note]
    assert note.startswith("leaf1 could not be read at the start of the interval")


def test_watch_repeats_plain_blocks_where_there_is_no_terminal(fabric, monkeypatch):
    slept = []
    monkeypatch.setattr(WATCH, "sleep", slept.append)
    result = fabric.show("queues", "--watch", "3s", "--count", "3", "--port", "leaf1:3", code=0)
    assert slept == [3.0, 3.0]
    assert result.stdout.count("97.5KB") == 3 and "\x1b" not in result.stdout
    lines = fabric.show("queues", "--watch", "--count", "2", "-o", "json").stdout.splitlines()
    assert [json.loads(line)["view"] for line in lines] == ["queues", "queues"] and slept[2:] == [2.0]


def test_energy_gives_watts_joules_totals_and_what_they_rest_on(fabric):
    document = fabric.document("energy", "--rate", "0.2s")
    ports = {row["port"]: row for row in document["rows"]}
    assert len(ports) == 12
    # Nothing is sent and EEE is on: all links except one are in low-power idle.
    assert ports["leaf2:1"]["watts"] == pytest.approx(0.05, rel=0.05)
    assert ports["spine1:1"]["watts"] == pytest.approx(0.25, rel=0.05)
    assert ports["leaf2:1"]["lpi_share"] == pytest.approx(1, abs=0.02)
    totals = document["totals"]
    assert (totals["ports"], totals["ports_of_unknown_power"]) == (12, 0)
    assert totals["joules"] == pytest.approx(sum(row["joules"] for row in ports.values()))
    assert document["assumptions"]["watts"]["10GBASE-T (10Gbps)"] == 2.5
    assert "thesis" in document["assumptions"]["source"]
    shown = fabric.show("energy", "--rate", "0.1s").stdout
    assert "assumed: 1000BASE-T (1Gbps) 0.5 W a port" in shown and "always on they would use" in shown


def test_eee_over_an_interval_has_shares(fabric):
    document = fabric.document("eee", "--rate", "0.1s")
    idle = next(row for row in document["rows"] if row["port"] == "leaf2:1")
    assert idle["lpi_share"] == pytest.approx(1, abs=0.02) and idle["wakes_per_s"] == 0


def test_without_targets_the_switches_are_where_the_current_revision_has_them(fabric):
    shown = eeon("show", "ports", "-t", "leaf-spine-4", "-o", "json", code=0)
    assert json.loads(shown.stdout)["unreachable"] == {}
    never_applied = eeon("show", "ports", "-t", "two-rack-24", code=1)
    assert "no switches: give a targets file (-T)" in never_applied.stderr


def test_without_a_topology_it_is_that_of_the_only_fabric(fabric):
    shown = eeon("show", "ports", "-o", "json", code=0)
    assert json.loads(shown.stdout) == {
        **fabric.document("ports"),
        "taken_at": json.loads(shown.stdout)["taken_at"],
    }
    eeon("clear", "counters", code=0)
    assert eeon("clear", "counters", "--undo").stdout == "counters are shown since the switches started\n"


def test_without_a_topology_and_without_a_fabric_it_asks_which(monkeypatch, tmp_path):
    monkeypatch.delenv("EEON_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shown = eeon("show", "ports", code=1)
    assert "which fabric? give -t or --state (nothing was applied yet)" in shown.stderr


def test_options_may_stand_before_the_name_of_the_view_and_those_behind_it_win(fabric):
    before = eeon("show", *fabric.options, "ports", "-o", "json", code=0)
    assert json.loads(before.stdout)["rows"] == fabric.document("ports")["rows"]
    eeon("show", "-t", "two-rack-24", "-T", "no-such-file", "ports", *fabric.options, "-o", "json", code=0)


def test_watch_redraws_the_screen_of_a_terminal_and_leaves_it_as_it_was(fabric):
    screen = screen_of(fabric, 120, "queues", "--watch", "0.1s", "--count", "2")
    assert "\x1b[?1049h" in screen and "\x1b[?1049l" in screen  # xterm's alternate screen, on and off
    assert "leaf1:3" in screen and "97.5KB" in screen and "Ctrl-C ends" in screen


def screen_of(fabric, columns: int, *arguments: str, **variables: str) -> str:
    """Returns all output to a terminal of this width."""
    screen, code = at_terminal("show", *arguments, *fabric.options, columns=columns, **variables)
    assert code == 0
    return screen


def on_terminal(fabric, columns: int, *arguments: str) -> list[str]:
    """Returns the lines that a terminal of this width shows, without styles."""
    screen = screen_of(fabric, columns, *arguments)
    return re.sub(r"\x1b\[[0-9;]*m", "", screen).splitlines()


@pytest.mark.parametrize("columns", [80, 60])
def test_on_a_narrow_terminal_keys_stay_whole_and_what_is_left_out_is_named(fabric, columns):
    for view, key in (("ports", "spine2:2"), ("eee", "spine2:2"), ("routes", "fd00:0:0:2::1/128")):
        lines = on_terminal(fabric, columns, view)
        assert all(len(line) <= columns for line in lines), lines
        assert any(key in line for line in lines), lines
    lines = on_terminal(fabric, columns, "ports")
    assert "dropped" in lines[1] and "delay" not in lines[1]
    assert ("peer" in lines[1]) == (columns == 80), "delay goes before peer"
    words = " ".join(line.strip() for line in lines)
    assert re.search("columns left out, terminal too narrow: [a-z, ]*delay[a-z, ]*; --json has all", words)


def test_a_wide_terminal_shows_every_column(fabric):
    lines = on_terminal(fabric, 160, "ports")
    assert "delay" in lines[1] and "left out" not in "".join(lines)


def test_a_piped_table_has_no_blanks_at_the_ends_of_its_lines(fabric):
    for view in (*VIEWS, "routes"):
        lines = fabric.show(view).stdout.splitlines()
        assert lines and [line for line in lines if line != line.rstrip()] == []


def test_the_share_of_marks_is_of_what_is_shown(fabric):
    assert re.search(r"^leaf1:3 +data +10 +4 +28\.6%", fabric.show("ecn").stdout, re.M)
    eeon("clear", "counters", *fabric.options)
    fabric.verdict("leaf1", 3, DATA, MARKED, 5, 7500)
    assert [row["marked_share"] for row in fabric.rows("ecn", "--nonzero")] == [1.0]


def test_counters_without_a_packet_are_left_out_of_the_table_and_told(fabric):
    every = len(fabric.rows("counters"))
    shown = fabric.show("counters").stdout
    assert shown.count("leaf1:") == 4 and shown.count("leaf2:") == 0
    assert f"{every - 4:,} rows without a packet left out; --zeros shows them" in shown
    assert fabric.show("counters", "--zeros").stdout.count("leaf2:") == every // 3


def test_the_port_that_drops_is_found_with_the_reason(fabric):
    fabric.verdict("spine1", 2, DATA, NO_ROUTE, 700, 1)
    lines = fabric.show("ports", "--only", "drops", "--sort", "dropped").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["spine1:2", "leaf1:3"]
    assert lines[2].endswith("  700  no route 700") and lines[3].endswith("  2  tail dropped 2")
    assert "10 of 12 rows left out by --only" in lines
    row = fabric.row("spine1:2", "ports")
    assert row["no_route_packets"] == 700 == row["dropped_packets"] and row["tail_dropped_packets"] == 0
    found = fabric.rows("counters", "--only", "drops")
    assert [(one["port"], one["class"], one["counter"]) for one in found] == [
        ("leaf1:3", "ack", "tail_dropped"),
        ("spine1:2", "data", "no_route"),
    ]
    assert [row["port"] for row in fabric.rows("ecn", "--only", "marks")] == ["leaf1:3"]
    assert [row["port"] for row in fabric.rows("queues", "--only", "queued")] == []


def test_where_nothing_is_dropped_there_is_no_column_of_reasons(fabric):
    assert "why" in fabric.show("ports").stdout.splitlines()[1]
    assert "why" not in fabric.show("ports", "--switch", "spine2", "--sort", "why").stdout.splitlines()[1]


def test_rows_come_in_the_order_of_a_column_by_heading_or_key(fabric):
    fabric.verdict("leaf2", 1, DATA, FORWARDED, 99, 1)
    fabric.verdict("leaf2", 4, DATA, FORWARDED, 100, 1)
    names = [row["port"] for row in fabric.rows("ports", "--sort", "sent")]
    assert names[:3] == ["leaf2:4", "leaf2:1", "leaf1:3"]
    again = fabric.rows("ports", "--sort", "sent_packets", "--reverse")
    assert [row["sent_packets"] for row in again][-3:] == [14, 99, 100]
    by_name = [row["port"] for row in fabric.rows("ports", "--sort", "port", "--reverse")]
    assert by_name == sorted(by_name, reverse=True)
    wrong = fabric.show("ports", "--sort", "droped", code=1)
    assert "did you mean dropped or role?" in wrong.stderr
    assert "--reverse needs --sort" in fabric.show("ports", "--reverse").stderr
    routes = fabric.document("routes", "leaf1", "--sort", "prefix", "--only", "faults")
    assert routes["rows"] == [] and "6 of 6 rows left out by --only" in routes["notes"]


def test_switches_with_a_fault_can_be_shown_alone(fabric):
    sync.run(fabric.fakes.switches["leaf2"].stop())
    assert [row["switch"] for row in fabric.rows("fabric", "--only", "faults")] == ["leaf2"]


RED, YELLOW, GREEN = "\x1b[31m", "\x1b[33m", "\x1b[32m"


def test_drops_marks_and_states_have_colours_on_a_terminal_that_wants_them(fabric):
    ports, ecn, states = (screen_of(fabric, 160, view) for view in ("ports", "ecn", "fabric"))
    assert f"{RED}      2{RESET}" in ports and RED not in ports.partition("leaf1:3")[0]
    assert f"{YELLOW}     4{RESET}" in ecn and GREEN in states and RED not in states
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", screen_of(fabric, 160, "ports", NO_COLOR="1"))
    assert "\x1b" not in fabric.show("ports").stdout


def test_a_column_has_one_unit_and_no_count_above_zero_looks_like_none(fabric):
    fabric.register("leaf1", "occupancy_bytes", 2, 64)
    fabric.register("leaf1", "occupancy_bytes", 1, 1_270_000)
    lines = fabric.show("queues", "--switch", "leaf1").stdout.splitlines()
    assert [line.split()[1] for line in lines[2:6]] == ["1.270MB", "<0.001MB", "0.098MB", "0.000MB"]
    fabric.verdict("leaf1", 4, DATA, FORWARDED, 12_891, 1)
    assert " 12,891 " in fabric.show("ports", "--port", "leaf1:4").stdout


@pytest.mark.parametrize("arguments", [("energy",), ("eee", "--rate", "1s"), ("ports", "--rate", "1s")])
def test_nothing_is_told_per_second_of_a_twin_whose_clock_stands_still(fabric, arguments):
    place(fabric.folder, fabric.fakes.targets, clock="virtual")
    refused = fabric.show(*arguments, code=1)
    assert refused.stdout == ""
    assert "these switches have a virtual clock" in refused.stderr and "`eeon replay`" in refused.stderr
    fabric.show(arguments[0] if arguments[0] != "energy" else "ports", code=0)


def test_a_revision_remembers_that_the_clock_is_virtual(fabric):
    place(fabric.folder, fabric.fakes.targets, clock="virtual")
    eeon("config", "apply", "-c", "drop_tail", *fabric.options, code=0)
    assert "these switches have a virtual clock" in eeon("show", "energy", "-t", "leaf-spine-4").stderr


def test_views_of_lossless_classes_and_congestion_points_say_why_they_are_empty(fabric):
    assert "add `pfc` to a class of the configuration" in fabric.show("pfc").stdout
    assert "add `qcn` to a queue profile of the configuration" in fabric.show("qcn").stdout


@pytest.mark.parametrize("make", [pfc, qcn])
def test_what_unreachable_switches_have_is_not_said_to_be_nothing(make):
    assert make(topology.load("leaf-spine-4"), FabricObservation({}, {"leaf1": "no answer"})).notes == []
    assert nonzero(ecn(FabricCounters((), ()))).notes == ecn(FabricCounters((), ())).notes


def test_ecn_leaves_rows_without_a_packet_out_of_the_table_and_says_how_many(fabric):
    fabric.verdict("leaf1", 3, DATA, MARKED, 4, 4000)
    lines = fabric.show("ecn").stdout.splitlines()
    assert {line.split()[0] for line in lines if line.startswith(("leaf", "spine"))} == {"leaf1:3"}
    assert any("rows without a packet left out; --zeros shows them" in line for line in lines)
    assert fabric.show("ecn", "--zeros").stdout.count("leaf1:3") > 1
    assert len(fabric.rows("ecn")) > 1


def test_nonzero_shows_queues_with_packets_and_ports_that_were_woken(fabric):
    assert fabric.rows("queues", "--nonzero") == []
    fabric.registers["occupancy_packets"] = program.load().schema().registers["occupancy_packets"].id
    fabric.register("leaf1", "occupancy_packets", 3, 2)
    fabric.register("spine2", "wakes", 1, 7)
    assert [row["port"] for row in fabric.rows("queues", "--nonzero")] == ["leaf1:3"]
    assert "spine2:1" in [row["port"] for row in fabric.rows("eee", "--nonzero")]
    assert len(fabric.rows("eee", "--nonzero")) < len(fabric.rows("eee"))


def test_routes_takes_the_switch_as_an_option_too(fabric):
    rows = fabric.rows("routes", "--switch", "leaf1")
    assert rows == fabric.rows("routes", "leaf1")


def test_at_80_columns_the_drops_of_lossless_classes_are_still_there():
    from eeon_control import views
    from eeon_control.cli.show.printing import as_table
    from eeon_control.cli.terminal import Terminal

    view = views.pfc.pfc(topology.load("leaf-spine-4"), FabricObservation({}, {}))
    numbers = {column.key: 61_000 for column in view.columns}
    view.rows.append(numbers | {"port": "leaf1:3", "priority": 3, "neighbour": "paused"})
    terminal = Terminal()
    terminal.width = 80
    with terminal.capture() as shown:
        terminal.print(as_table(view, 80))
    assert "dropped" in shown.get().split("left out")[0]
