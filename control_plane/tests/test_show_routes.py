"""`eeon show routes` and `eeon show path` on configured switches: states, paths, faults, wrong names."""

import json
import re

import pytest
from eeon_command import Command, eeon
from eeon_control import program, topology
from eeon_control.fabric import sync

pytestmark = pytest.mark.system

SPINE_PORT = 4  # of leaf1: to spine2


class Fabric(Command):
    """Fake switches with a configuration."""

    def __init__(self, folder, fakes) -> None:
        super().__init__(folder, fakes)
        schema = program.load().schema()
        self.tables = {name: schema.tables[name].id for name in ("ipv4_route", "ipv6_route", "l3_admit")}

    def entry(self, switch: str, address: str):
        """Returns the switch's IPv4 route of a prefix's first address."""
        value = bytes(map(int, address.split(".")))
        return next(
            entry
            for entry in self.fakes.switches[switch].entries.values()
            if entry.table_id == self.tables["ipv4_route"] and entry.match[0].lpm.value == value
        )

    def members(self, switch: str, address: str):
        return self.entry(switch, address).action.action_profile_action_set.action_profile_actions

    def remove(self, switch: str, address: str) -> None:
        entries = self.fakes.switches[switch].entries
        gone = self.entry(switch, address)
        del entries[next(key for key, entry in entries.items() if entry is gone)]

    def set_port(self, switch: str, address: str, port: int) -> None:
        """Sends all its packets over one port, with an unchanged MAC."""
        members = self.members(switch, address)
        del members[1:]
        members[0].action.params[0].value = bytes([port])

    def state(self, switch: str, prefix: str, *arguments: str) -> str:
        rows = self.document("routes", switch, *arguments)["rows"]
        return next(row["state"] for row in rows if row["prefix"] == prefix)


@pytest.fixture
def fabric(tmp_path, fakes, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Fabric(tmp_path, fakes)
    eeon("config", "apply", "-c", "drop_tail", *made.options, code=0)
    return made


def test_routes_are_shown_with_groups_ports_and_neighbours(fabric):
    document = fabric.document("routes", "leaf1")
    rows = {row["prefix"]: row for row in document["rows"]}
    assert len(rows) == 6 and {row["state"] for row in rows.values()} == {"ok"}
    assert rows["10.0.1.2/32"]["next_hops"] == "2 h2"
    assert rows["10.0.2.0/24"]["next_hops"] == "3 spine1, 4 spine2"
    assert rows["10.0.2.0/24"]["group"] == rows["fd00:0:0:2::/64"]["group"]
    group = next(one for one in document["groups"]["leaf1"] if one["group"] == rows["10.0.2.0/24"]["group"])
    spines = topology.load("leaf-spine-4").switches
    assert group["members"] == [
        {"action": "forward", "port": port, "neighbour": name, "next_hop_mac": spines[name].mac}
        for port, name in ((3, "spine1"), (4, "spine2"))
    ]
    assert re.search(r"^spine1 +10\.0\.1\.0/24", fabric.show("routes").stdout, re.M)


def test_a_lost_member_a_lost_route_and_one_that_nobody_planned_are_told(fabric):
    del fabric.members("leaf1", "10.0.2.0")[0]
    assert fabric.state("leaf1", "10.0.2.0/24") == "missing: 3 spine1"
    lost = "missing; planned: 1 leaf1"
    fabric.remove("spine1", "10.0.1.0")
    assert fabric.state("spine1", "10.0.1.0/24") == lost
    fabric.entry("spine2", "10.0.1.0").match[0].lpm.value = b"\x0a\x07\x01\x00"
    assert fabric.state("spine2", "10.7.1.0/24") == "not planned"
    assert "2 routes are not as planned" in fabric.document("routes", "spine2")["notes"]


def test_a_next_hop_without_a_link_and_one_with_a_foreign_mac_are_told_without_any_plan(
    fabric, tmp_path, monkeypatch
):
    monkeypatch.setenv("EEON_STATE", str(tmp_path / "nothing"))
    fabric.set_port("leaf1", "10.0.2.0", 9)
    document = fabric.document("routes", "leaf1")
    states = {row["prefix"]: row["state"] for row in document["rows"]}
    assert states["10.0.2.0/24"] == "port 9 has no link"
    assert states["fd00:0:0:2::/64"] == "ok"
    assert any("give -c" in note for note in document["notes"])
    fabric.set_port("leaf1", "10.0.2.0", SPINE_PORT)
    found = fabric.state("leaf1", "10.0.2.0/24")
    assert re.fullmatch(r"port 4: next-hop MAC [0-9a-f:]{17} is not spine2's, [0-9a-f:]{17}", found)
    assert fabric.state("leaf1", "10.0.2.0/24", "-c", "drop_tail").startswith(found)


def test_all_paths_are_those_that_the_groups_allow(fabric):
    document = fabric.document("path", "h1", "h3")
    assert [path["nodes"] for path in document["paths"]] == [
        ["h1", "leaf1", "spine1", "leaf2", "h3"],
        ["h1", "leaf1", "spine2", "leaf2", "h3"],
    ]
    assert [path["share"] for path in document["paths"]] == [0.5, 0.5]
    hops = [(row["switch"], row["port"], row["peer"], row["prefix"]) for row in document["rows"][:3]]
    assert hops == [
        ("leaf1", "leaf1:3", "spine1:1", "10.0.2.0/24"),
        ("spine1", "spine1:2", "leaf2:3", "10.0.2.0/24"),
        ("leaf2", "leaf2:1", "h3:0", "10.0.2.1/32"),
    ]
    assert [path["nodes"] for path in fabric.document("path", "h1", "h2")["paths"]] == [["h1", "leaf1", "h2"]]
    six = fabric.document("path", "fd00:0:0:1::1", "h3")
    assert {row["prefix"] for row in six["rows"]} == {"fd00:0:0:2::/64", "fd00:0:0:2::1/128"}


def test_a_weight_is_a_share_of_the_flows(fabric):
    fabric.members("leaf1", "10.0.2.0")[0].weight = 3
    assert [path["share"] for path in fabric.document("path", "h1", "h3")["paths"]] == [0.75, 0.25]


def test_more_paths_than_the_limit_are_told(fabric):
    shown = fabric.show("path", "h1", "h3", "--limit", "1").stdout
    assert "there are more than 1 paths; --limit shows more" in shown and "spine2" not in shown


def test_a_flow_takes_one_path_and_its_hash_is_shown(fabric):
    document = fabric.document("path", "h1", "h3", "--flow", "tcp,40000,5000")
    assert len(document["paths"]) == 1 and document["flow"] == "tcp 40000 -> 5000"
    first = document["rows"][0]
    assert first["port"] == f"leaf1:{(3, 4)[first['hash'] % 2]}"


def test_a_flow_takes_a_share_of_all_paths_where_switches_spread_packets(fabric, tmp_path):
    (tmp_path / "spread.yaml").write_text("routing: {ecmp: per_packet}\n")
    spread = ("-c", "drop_tail", "-c", str(tmp_path / "spread.yaml"))
    eeon("config", "apply", *spread, *fabric.options, code=0)
    words = ("path", "h1", "h3", "--flow", "tcp,40000,5000")
    assert [path["share"] for path in fabric.document(*words)["paths"]] == [0.5, 0.5]
    # Only one of two paths is shown: it does not carry all flows.
    limited = fabric.document(*words, "--limit", "1")
    assert [(row["share"], row["hash"]) for row in limited["rows"]] == [(0.5, None)] * 3
    assert "50.0%" in fabric.show(*words, "--limit", "1").stdout


@pytest.mark.parametrize(
    ("switch", "prefix", "port", "fault"),
    [
        ("spine1", "10.0.2.0", None, "no route to 10.0.2.1 at spine1"),
        ("spine1", "10.0.2.0", 1, "loop: leaf1 -> spine1 -> leaf1"),
        ("leaf2", "10.0.2.1", 2, "leaf2:2 leads to h4, which is not h3"),
        ("leaf1", "10.0.2.0", 77, "leaf1: 10.0.2.0/24 leads to port 77, which has no link"),
    ],
)
def test_a_path_that_does_not_arrive_says_where_and_why(fabric, switch, prefix, port, fault):
    if port is None:
        fabric.remove(switch, prefix)
    else:
        fabric.set_port(switch, prefix, port)
    result = fabric.show("path", "h1", "h3", "-o", "json", code=1)
    assert fault in [path["fault"] for path in json.loads(result.stdout)["paths"]]
    assert f"path 1: {fault}" in fabric.show("path", "h1", "h3").stdout


def test_a_path_ends_where_l3_admit_refuses_its_frames(fabric):
    entries = fabric.fakes.switches["spine1"].entries
    admitted = [key for key, entry in entries.items() if entry.table_id == fabric.tables["l3_admit"]]
    assert len(admitted) == 2
    for key in admitted:
        del entries[key]
    first, second = fabric.document("path", "h1", "h3")["paths"]
    assert first["fault"] == "spine1:1 does not admit frames to 02:01:00:00:00:03"
    assert first["nodes"] == ["h1", "leaf1"] and second["fault"] is None
    default = fabric.fakes.switches["spine1"].defaults[fabric.tables["l3_admit"]]
    default.action.action.action_id = program.load().schema().actions["admit_to_l3"].id
    assert fabric.document("path", "h1", "h3")["paths"][0]["fault"] is None


def test_an_ipv4_path_on_a_fabric_with_ipv6_routes_only_tells_of_ipv6(fabric, tmp_path):
    (tmp_path / "ipv6.yaml").write_text("routing: {ipv4: false}\n")
    config = ("-c", "drop_tail", "-c", str(tmp_path / "ipv6.yaml"))
    eeon("config", "apply", *config, *fabric.options, code=0)
    shown = fabric.show("path", "h1", "h3", code=1).stdout
    assert "the switches have no IPv4 routes; --ipv6 shows the IPv6 paths" in shown
    fabric.show("path", "h1", "h3", "--ipv6", code=0)


def test_a_path_over_a_switch_that_does_not_answer_says_so(fabric):
    sync.run(fabric.fakes.switches["spine2"].stop())
    result = fabric.show("path", "h1", "h3", code=1)
    assert "path 2: spine2 could not be read" in result.stdout
    assert "spine2 (127.0.0.1:" in result.stderr
