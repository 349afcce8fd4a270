"""The parts of a live fabric, without creating them: names, rates, and the guarantees of its state file."""

import os
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from eeon_control import data
from eeon_control import topology as topologies
from eeon_control.topology import Host, Port, Switch, Topology
from eeon_control.units import DataRate
from eeon_tools.errors import InputError, UnavailableError
from eeon_tools.live import network, plan, state, switches
from eeon_tools.live.state import Process, State


def alike(topology: Topology) -> tuple[list[Switch], list[Host]]:
    """Returns switches and hosts with the same rate everywhere."""

    def slow(port: Port) -> Port:
        return replace(port, rate=DataRate(1))

    switches = [replace(one, ports=tuple(map(slow, one.ports))) for one in topology.switches.values()]
    return switches, [replace(one, port=slow(one.port)) for one in topology.hosts.values()]


def test_a_scaled_topology_differs_in_rates_only():
    given = topologies.load("leaf-spine-4")
    scaled, text = plan.with_rates(given, Fraction(1, 10))
    assert [int(port.rate) for port in scaled.ports()] == [int(port.rate) // 10 for port in given.ports()]
    assert alike(scaled) == alike(topologies.from_text(text)) == alike(given)


@pytest.mark.parametrize("name", data.names("topologies"))
def test_no_two_interfaces_of_a_fabric_share_a_name_and_all_fit_the_kernel(name):
    topology = topologies.load(name)
    ends = [end for pair in plan.pairs(topology, "eeon") for end in pair]
    assert len({(end.namespace, end.interface) for end in ends}) == len(ends) == 2 * len(topology.links)
    assert all(len(end.interface) <= 15 for end in ends)
    assert {end.namespace for end in ends} - {None} == {f"eeon-{host}" for host in topology.hosts}


@pytest.mark.parametrize("name", ["", "Eeon", "eeons", "1e", "e/x", "../x"])
def test_a_name_that_would_not_fit_an_interface_or_a_path_is_refused(name):
    with pytest.raises(InputError, match="--name"):
        plan.check_name(name)


def test_a_link_of_which_scaling_leaves_nothing_is_refused():
    with pytest.raises(InputError, match="makes the rate of leaf1:1 - h1:0 zero"):
        plan.with_rates(topologies.load("leaf-spine-4"), Fraction(1, 10**10))


def test_a_packet_rate_is_that_of_full_frames_with_their_overhead():
    # 1538 bytes on the wire for 1500 bytes of IP: 81,274 full frames per second at 1 Gbit/s.
    assert switches.packet_rate(1_000_000_000, 24) == 81_274
    assert switches.packet_rate(1, 24) == 1


def test_the_state_is_claimed_whole_and_comes_back_as_it_was_saved_until_it_is_forgotten(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(state, "_ROOT", tmp_path)
    record = State("f", "engine", "leaf-spine-4", {"h1": "f-h1"}, ["f1p1"], addresses={"leaf1": "a:1"})
    record.check_unclaimed()
    record.create()
    assert [path.name for path in record.folder.iterdir()] == ["fabric.json"] and state.load("f") == record
    second = State("f", "bmv2", "leaf-spine-16")
    for refused in (second.check_unclaimed, second.create):
        with pytest.raises(UnavailableError, match="a fabric named f already exists"):
            refused()
    record.switches["leaf1"] = Process.of(os.getpid())
    record.supervisor = Process.of(os.getpid())
    record.save()
    assert state.load("f") == record
    for name in ("topology.yaml", "leaf1.log"):
        (record.folder / name).touch()
    record.forget(keeps_logs=True)
    assert [path.name for path in record.folder.iterdir()] == ["leaf1.log"]
    record.forget()
    with pytest.raises(UnavailableError, match=r"no live fabric named f.*--target engine"):
        state.load("f")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"switches": {}, "supervisor": null, "bogus": 1}'])
def test_a_damaged_state_file_is_an_error_that_names_it(text, tmp_path, monkeypatch):
    monkeypatch.setattr(state, "_ROOT", tmp_path)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "fabric.json").write_text(text)
    with pytest.raises(InputError, match=r"fabric\.json.*of the version that wrote it"):
        state.load("f")


def test_without_root_a_live_fabric_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(network.shutil, "which", lambda tool: f"/bin/{tool}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UnavailableError, match="needs root"):
        network.check_possible()
    monkeypatch.setattr(network.shutil, "which", lambda tool: None)
    with pytest.raises(UnavailableError, match="ip and ethtool on PATH"):
        network.check_possible()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UnavailableError, match="needs Linux"):
        network.check_possible()
