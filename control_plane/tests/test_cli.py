"""The eeon command: exit codes, output for people and for programs, errors without tracebacks."""

import json
import os
import signal
from importlib.metadata import EntryPoint

import click
import pytest
from click.testing import CliRunner
from eeon_command import eeon, place
from eeon_control import packages
from eeon_control.cli import group, main
from eeon_control.doctor import Level, software

CONFIG = ["-c", "red_ack_syn", "-c", "eee_120us100"]


@pytest.mark.system
def test_plan_exits_2_with_changes_and_0_after_apply(tmp_path, fakes):
    meant = [*CONFIG, *place(tmp_path, fakes.targets)]
    planned, applied = eeon("config", "plan", *meant), eeon("config", "apply", *meant)
    again, applied_again = eeon("config", "plan", *meant), eeon("config", "apply", *meant)
    assert planned.exit_code == 2
    assert "leaf1:1-2, leaf2:1-2 (host-facing, 4 ports): buffer " in planned.stdout
    assert "4 of 4 switches change:" in planned.stdout
    assert applied.exit_code == 0 and "entries read back as intended" in applied.stdout
    assert (again.exit_code, again.stdout) == (0, "no changes: 4 switches are as intended\n")
    assert applied_again.exit_code == 0
    assert applied_again.stdout == "no changes: 4 switches are as intended; this is revision 1\n"


@pytest.mark.system
def test_plan_as_json_lists_every_change(tmp_path, fakes):
    planned = eeon("config", "plan", *CONFIG, *place(tmp_path, fakes.targets), "-o", "json")
    switches = json.loads(planned.stdout)["switches"]
    assert list(switches) == ["leaf1", "leaf2", "spine1", "spine2"]
    assert switches["leaf1"]["push_pipeline"] is True
    assert {
        "kind": "insert",
        "table": "port_buffer",
        "match": "port=1",
        "before": None,
        "after": "set_buffer_limit(buffer_bytes=300000)",
    } in switches["leaf1"]["changes"]


@pytest.mark.system
def test_unreachable_switch_is_an_error_of_exit_code_1_without_a_traceback(tmp_path):
    nowhere = place(tmp_path, dict.fromkeys(("leaf1", "leaf2", "spine1", "spine2"), "127.0.0.1:1"))
    result = eeon("config", "plan", *CONFIG, *nowhere, code=1)
    assert "leaf1 (127.0.0.1:1, device id 1): " in result.stderr and "Traceback" not in result.output
    shown = eeon("show", "fabric", *nowhere, code=1)
    assert shown.stdout.count("UNAVAILABLE") == 4


def test_list_names_what_ships():
    result = eeon("config", "list")
    assert "  mark_threshold\n" in result.stdout and "  two-rack-50\n" in result.stdout


def test_command_of_another_package_is_offered_and_a_broken_one_does_not_harm(monkeypatch):
    good = click.Command("hello", callback=lambda: click.echo("hello"))
    points = {"hello": good, "broken": ImportError("no module named x"), "odd": 3}

    class Point(EntryPoint):
        def load(self):
            if isinstance(points[self.name], Exception):
                raise points[self.name]
            return points[self.name]

    monkeypatch.setattr(
        group, "entry_points", lambda group: [Point(name, "pkg:it", group) for name in points]
    )
    assert eeon("hello").stdout == "hello\n"
    listed = eeon("--help").stdout
    assert "hello" in listed and "config" in listed
    broken, odd = eeon("broken", "--some", "thing"), eeon("odd")
    assert broken.exit_code == odd.exit_code == 1
    assert "ImportError: no module named x; upgrade or remove its package" in broken.stderr
    assert "pkg:it is not a click command" in odd.stderr


def test_a_command_of_a_package_of_another_version_says_which_to_install(monkeypatch):
    others = {"eeon-control": "0.2.0", "eeon-tools": "0.2.0", "eeon-engine": "0.1.0"}
    monkeypatch.setattr(group, "of_other_versions", lambda: packages.of_other_versions(others.get))
    mixed = eeon("replay", "a.pcap", code=1)
    assert "eeon-engine is 0.1.0, but eeon-control is 0.2.0" in mixed.stderr
    assert "`pip install 'eeon-engine==0.2.0'`" in mixed.stderr
    eeon("config", "list", code=0)
    [fault] = [one for one in software.requirements([], others.get) if one.level is Level.FAULT]
    assert fault.mend == "pip install 'eeon-engine==0.2.0'"


def test_a_command_of_the_tools_says_how_to_get_it_where_only_the_controller_is_installed(monkeypatch):
    monkeypatch.setattr(group, "entry_points", lambda group: [])
    missing = eeon("fabric", "up", "leaf-spine-4", "--target", "twin", code=1)
    assert "eeon fabric: not installed" in missing.stderr
    assert "make setup" in missing.stderr
    assert "\n  fabric " not in eeon("--help").stdout


@pytest.mark.system
def test_after_the_first_apply_topology_and_switches_may_be_left_out(tmp_path, fakes):
    eeon("config", "apply", "-q", *CONFIG, *place(tmp_path, fakes.targets))
    planned = eeon("config", "plan", "-c", "mark_threshold")
    applied = eeon("config", "apply", "-q", "-c", "mark_threshold")
    again = eeon("config", "plan", "-c", "mark_threshold")
    assert (planned.exit_code, applied.exit_code, again.exit_code) == (2, 0, 0), planned.output
    assert "this is revision 2" in applied.stdout


@pytest.mark.system
def test_explain_without_a_configuration_says_what_is_in_force(tmp_path, fakes):
    eeon("config", "apply", "-q", *CONFIG, *place(tmp_path, fakes.targets))
    told = eeon("config", "explain", "leaf1:1", code=0)
    assert "red_ack_syn" in told.stdout or "revision 1" in told.stdout
    assert "120us100" in told.stdout


def test_sigterm_ends_any_command_as_ctrl_c_does_and_is_what_it_was_afterwards(monkeypatch):
    tidied = []

    @click.command()
    def foreign() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        finally:
            tidied.append("up")

    monkeypatch.setitem(main.commands, "foreign", foreign)
    before = signal.getsignal(signal.SIGTERM)
    result = CliRunner().invoke(main, ["foreign"])
    assert (result.exit_code, result.stderr.strip(), tidied) == (130, "stopped", ["up"])
    assert signal.getsignal(signal.SIGTERM) is before
