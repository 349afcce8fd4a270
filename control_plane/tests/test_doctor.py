"""`eeon doctor`: each check on healthy and on faulty machines."""

import importlib
import os
import time
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import config
from eeon_control import doctor as doctors
from eeon_control import fabric as fabrics
from eeon_control.doctor import Level, machine, software, switches
from eeon_control.doctor.finding import Finding, exit_code, fault, ok, run, warning
from eeon_control.targets import Target
from eeon_control.topology import from_text
from engine_switches import ONE_SWITCH, serving_thrift_too


def only(findings) -> Finding:
    (found,) = list(findings)
    return found


def versions(**installed: str):
    return {name.replace("_", "-"): version for name, version in installed.items()}.get


def test_a_check_that_raises_is_a_finding_and_the_next_one_is_made():
    def broken():
        raise ZeroDivisionError("oops")

    found = list(run([("first", broken), ("second", lambda: [ok("second", "fine")])]))
    assert [one.level for one in found] == [Level.FAULT, Level.OK]
    assert found[0].found == "the check failed: ZeroDivisionError: oops"


def test_the_exit_code_is_0_for_well_2_for_warnings_and_1_for_faults():
    well, warned, faulty = ok("a", ""), warning("b", "", "x"), fault("c", "", "x")
    assert [exit_code(of) for of in ([well], [well, warned], [well, warned, faulty])] == [0, 2, 1]


def test_a_package_that_is_missing_or_too_old_is_named_with_the_command_that_installs_it():
    wanted = ["click>=8.1,<9", "rich>=13", "pytest>=8; extra == 'test'"]
    missing, old = software.requirements(wanted, versions(rich="12.0"))
    assert (missing.level, missing.mend) == (Level.FAULT, "pip install 'click<9,>=8.1'")
    assert old.found == "rich is 12.0; rich>=13 is needed"
    assert only(software.requirements(wanted, versions(click="8.2", rich="14"))).found == "click 8.2, rich 14"


PROXY = {"http_proxy": "http://proxy:3128", "no_proxy": "127.0.0.1,.example.net"}
HOSTS = ["127.0.0.1", "leaf1.example.net", "192.0.2.7"]
MEND_OFFLOADS = "; ethtool -K veth7 rx off tx off tso off gso off gro off"
PURE = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}


BROKEN = "eeon-engine 0.1.0 cannot be loaded: wrong ELF class; build it again: make setup"


def broken(name: str):
    raise ImportError("wrong ELF class")


def protos(environment=None, **installed: str):
    return list(software.protobuf_pool(versions(**installed), environment))[:1]


@pytest.mark.parametrize(
    ("check", "level", "says"),
    [
        (lambda _: software.python(), Level.OK, ""),
        (lambda _: protos(), Level.OK, ""),
        (lambda _: protos(p4runtime="1.6.0"), Level.WARNING, "the package p4runtime 1.6.0 is installed"),
        (lambda _: protos(PURE), Level.WARNING, "many times slower"),
        (lambda _: software.engine(version_of=versions()), Level.ABSENT, ""),
        (lambda _: software.engine(broken, versions(eeon_engine="0.1.0")), Level.FAULT, BROKEN),
        (lambda _: software.program("bmv2", lambda _: None), Level.ABSENT, ""),
        (lambda _: software.program("p4c", lambda _: None), Level.ABSENT, ""),
        (lambda _: software.proxies(PROXY, HOSTS), Level.WARNING, "export no_grpc_proxy=192.0.2.7"),
        (lambda _: software.proxies(PROXY, HOSTS[:2]), Level.OK, ""),
        (lambda _: software.proxies({}, HOSTS), Level.OK, ""),
        (lambda of: machine.capabilities(status(of, "1000")), Level.WARNING, "has no CAP_NET_RAW"),
        (lambda of: machine.capabilities(status(of, "3000")), Level.OK, ""),
        (lambda of: machine.capabilities(of / "absent"), Level.WARNING, ""),
        (lambda of: machine.namespaces(lambda _: None, of), Level.WARNING, "install iproute2"),
        (lambda of: machine.namespaces(lambda _: "/sbin/ip", of / "absent"), Level.WARNING, ""),
        (lambda of: machine.namespaces(lambda _: "/sbin/ip", of), Level.OK, ""),
        (lambda _: machine.offloads("veth7", lambda _, of: of == 0x1E), Level.WARNING, "are on: tso; "),
        (lambda _: machine.offloads("veth7", lambda *_: 1), Level.WARNING, MEND_OFFLOADS),
        (lambda _: machine.offloads("veth7", lambda *_: 0), Level.OK, ""),
        (lambda _: machine.offloads("no-such-if"), Level.FAULT, "No such device"),
        (lambda _: machine.open_files(1000, 1024), Level.FAULT, "ulimit -n 4128"),
        (lambda _: machine.open_files(100, 1024), Level.OK, ""),
        (lambda of: machine.clock(of, time.time() - 3600), Level.FAULT, ""),
        (lambda of: machine.clock(of), Level.OK, ""),
        (lambda of: machine.state_folder(of / "absent"), Level.OK, ""),
        (lambda of: machine.state_folder(open_to_others(of)), Level.FAULT, "chmod 700 "),
        (lambda _: switches._protection("leaf1", Target("192.0.2.1:1", 1)), Level.WARNING, "not encrypted"),
        (lambda _: switches._protection("leaf1", Target("127.0.0.1:1", 1)), Level.OK, ""),
    ],
)
def test_a_check_has_a_level_and_says_what_is_wrong(tmp_path, check, level, says):
    found = only(check(tmp_path))
    assert (found.level, says in f"{found.found}; {found.mend}") == (level, True)


def status(folder: Path, capabilities: str) -> Path:
    """Returns a process's status file, with its effective capabilities: 3000 has CAP_NET_ADMIN and RAW."""
    path = folder / "status"
    path.write_text(f"Name:\tx\nCapEff:\t000000000000{capabilities}\n")
    return path


def open_to_others(folder: Path) -> Path:
    folder.chmod(0o755)
    return folder


def test_a_package_that_cannot_be_loaded_is_a_fault():
    def refuse(name: str):
        if name == "thriftpy2":
            raise ImportError("libc is too old")
        return None

    found = {one.check: one for one in software.imports(refuse)}
    assert found["grpc"].level is Level.OK
    assert (found["thrift"].level, found["thrift"].found) == (Level.FAULT, "thriftpy2: libc is too old")


@pytest.mark.system
@pytest.mark.parametrize(
    ("check", "name", "text", "level", "says"),
    [
        ("bmv2", "simple_switch_grpc", "echo 1.15.5-abc", Level.OK, "1.15.5"),
        ("bmv2", "simple_switch_grpc", "echo 1.13.0", Level.WARNING, "1.13.0; tests ran with 1.15"),
        ("bmv2", "simple_switch_grpc", "echo no libs >&2; exit 127", Level.WARNING, "no libs"),
        ("p4c", "p4c-bm2-ss", "echo 'p4c-bm2-ss Version 1.2.5.13 (SHA)'", Level.OK, "1.2.5.13"),
    ],
)
def test_an_installed_program_is_asked_for_its_version(tmp_path, check, name, text, level, says):
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    found = only(software.program(check, lambda _: str(path)))
    assert found.level is level and says in found.found


@pytest.mark.system
def test_thrift_and_clock_of_a_switch():
    with serving_thrift_too() as target:
        found = {one.check: one for one in switches.reach({"leaf1": target})}
        assert found["leaf1 Thrift"].level is Level.OK and "leaf1 clock" not in found
        assert found["leaf1 pipeline"].found.startswith("no pipeline; the program's digest is ")
        one_switch = from_text(ONE_SWITCH, "one-switch.yaml")
        fabrics.apply_sync(one_switch, config.load("drop_tail"), {"leaf1": target.address}, 1000)
        *_, clock = switches.reach({"leaf1": target})
    # The test advances this switch's clock.
    assert clock.check == "leaf1 clock" and "the switch's clock runs at 0% of real time" in clock.found


@pytest.mark.system
def test_nothing_is_written_on_the_way(tmp_path):
    before = sorted(tmp_path.rglob("*"))
    list(doctors.examine(os.environ, state=tmp_path / "state"))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_doctor_counts_its_findings_and_says_when_no_switch_was_checked(monkeypatch):
    found: list[Finding] = []
    monkeypatch.setattr(importlib.import_module("eeon_control.cli.doctor"), "examine", lambda *_, **__: found)
    shown = eeon("doctor", code=0)
    assert shown.output.splitlines()[-1] == "no switch was checked; give -t and -T to check switches"
    found.append(warning("a", "", "x"))
    somewhere = [f"--target={name}=127.0.0.1:1" for name in ("leaf1", "leaf2", "spine1", "spine2")]
    shown = eeon("doctor", "-t", "leaf-spine-4", *somewhere, code=2)
    assert shown.output.splitlines()[-1] == "0 ok, 1 warning, 0 faults"
