"""The eeon command: exit codes, output for people and for programs, errors without tracebacks."""

import os
import signal
from importlib.metadata import EntryPoint

import click
from click.testing import CliRunner
from eeon_command import eeon
from eeon_control import packages
from eeon_control.cli import group, main
from eeon_control.doctor import Level, software


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


def test_a_command_of_this_package_does_not_wait_for_a_look_at_others(monkeypatch):
    monkeypatch.setattr(group, "entry_points", lambda group: 1 / 0)
    eeon("config", "list", code=0)


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
