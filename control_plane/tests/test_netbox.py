"""Inventories of NetBox as topologies: what is placed, and what is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from eeon_control import topology
from eeon_control.cli import main
from eeon_control.errors import InputError
from eeon_control.topology.netbox import Roles, import_
from eeon_control.units import Duration
from hypothesis import given, settings
from hypothesis import strategies as st


def device(number: int, name: str, role: str) -> dict:
    return {"id": number, "name": name, "role": {"id": 1, "slug": role}, "status": {"value": "active"}}


def interface(number: int, of: int, name: str, kind: str = "10gbase-x-sfpp", **more) -> dict:
    found = {"id": number, "device": {"id": of}, "name": name, "type": {"value": kind}, "speed": None}
    return found | {"mgmt_only": False} | more


def end(number: int, kind: str = "dcim.interface") -> dict:
    return {"object_type": kind, "object_id": number}


def cable(number: int, a: int, b: int, **more) -> dict:
    found = {"id": number, "a_terminations": [end(a)], "b_terminations": [end(b)], "length": None}
    return found | {"length_unit": None, "status": {"value": "connected"}} | more


def inventory() -> dict:
    """Two leaves, a spine, two servers, a PDU; management in one."""
    return {
        "devices": [
            device(1, "leaf1", "leaf"),
            device(2, "leaf2", "leaf"),
            device(3, "spine1", "spine"),
            device(4, "h1", "server"),
            device(5, "h2", "server"),
            device(6, "pdu", "pdu"),
        ],
        "interfaces": [
            interface(10, 1, "Management0", "1000base-t", mgmt_only=True),
            interface(11, 1, "Ethernet10", "100gbase-x-qsfp28"),
            interface(12, 1, "Ethernet2"),
            interface(13, 1, "Vlan10", "virtual"),
            interface(21, 2, "Ethernet2"),
            interface(22, 2, "Ethernet10", "100gbase-x-qsfp28"),
            interface(31, 3, "et-0/0/0", "100gbase-x-qsfp28"),
            interface(32, 3, "et-0/0/1", "other", speed=100_000_000),
            interface(41, 4, "eno1"),
            interface(51, 5, "eno1", "other"),
            interface(61, 6, "lan", "100base-tx"),
        ],
        "cables": [
            cable(1, 12, 41, length=3, length_unit={"value": "m"}),
            cable(2, 51, 21),
            cable(3, 11, 31, length=0.1, length_unit={"value": "km"}),
            cable(4, 32, 22),
            cable(5, 10, 61),
        ],
    }


def imported(value: dict, **more) -> tuple[str, list[str]]:
    roles = Roles(ignored=("pdu",))
    return import_(
        json.dumps(value).encode(), "n.json", roles, name="site", delay=Duration.parse("500ns"), **more
    )


def test_a_cable_has_one_end_a_side_in_netbox_before_3_3_too():
    old = inventory()
    for one in old["cables"]:
        for side in ("a", "b"):
            [there] = one.pop(f"{side}_terminations")
            one |= {f"termination_{side}_{key}": there[f"object_{key}"] for key in ("type", "id")}
    assert imported(old) == imported(inventory())


def test_numbers_that_are_text_are_numbers():
    text = inventory()
    text["cables"][0]["length"] = "3.00"
    text["interfaces"][7]["speed"] = "100000000"
    assert imported(text) == imported(inventory())


def refusal(value: dict) -> str:
    with pytest.raises(InputError) as error:
        imported(value)
    return str(error.value)


def test_inventory_becomes_a_topology_with_ports_in_the_order_of_interfaces():
    text, notes = imported(inventory())
    found = topology.from_text(text)
    assert {name: one.role.value for name, one in found.switches.items()} == {
        "leaf1": "leaf",
        "leaf2": "leaf",
        "spine1": "spine",
    }
    assert [(str(link.a), str(link.b), str(link.rate), str(link.delay)) for link in found.links] == [
        ("leaf1:1", "h1:0", "10Gbps", "15ns"),
        ("h2:0", "leaf2:1", "10Gbps", "500ns"),
        ("leaf1:2", "spine1:1", "100Gbps", "500ns"),
        ("spine1:2", "leaf2:2", "100Gbps", "500ns"),
    ]
    assert "# cable 3: Ethernet10 - et-0/0/0" in text
    assert notes == ["cables left out: 1, of devices that are left out"]


def test_answers_of_the_api_are_taken_as_they_come_and_pages_are_refused():
    value = {kind: {"count": len(of), "next": None, "results": of} for kind, of in inventory().items()}
    assert imported(value) == imported(inventory())
    value["cables"]["next"] = "https://netbox/api/dcim/cables/?offset=50"
    assert refusal(value) == "n.json: error: cables: is one page of several; ask NetBox with limit=0"


def broken(change) -> dict:
    value = inventory()
    change(value)
    return value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda v: v["cables"][2].update(b_terminations=[]),
            "cable 3: half a cable: it has no end on side B; a link has one on each",
        ),
        (
            lambda v: v["cables"][2].pop("a_terminations"),
            "cable 3: half a cable: it has no end on side A; a link has one on each",
        ),
        (
            lambda v: v["cables"][2]["b_terminations"].append(end(32)),
            "cable 3: half a cable: it has 2 ends, as a breakout has on side B; a link has one on each",
        ),
        (
            lambda v: v["cables"][0].update(a_terminations=[end(7, "dcim.frontport")]),
            "cable 1: it ends at a dcim.frontport on side A, and not at an interface of a device",
        ),
        (
            lambda v: v["cables"][0].update(a_terminations=[end(99)]),
            "cable 1: its interface 99 on side A is not in the export",
        ),
        (
            lambda v: v["interfaces"][5].update(speed=40_000_000),
            "cable 4: its ends have different speeds: spine1 et-0/0/1 and leaf2 Ethernet10 have "
            "40Gbps and 100Gbps",
        ),
        (
            lambda v: v["interfaces"][4].update(type={"value": "other"}),
            "cable 2: no speed is known: neither the speed nor the type of h2 eno1 and leaf2 Ethernet2 tells one",
        ),
        (
            lambda v: v["devices"].append(device(7, "fw1", "firewall")),
            "fw1: its role 'firewall' is neither a leaf's, a spine's nor a host's; give --leaf, --spine, --host "
            "or --ignore firewall",
        ),
        (
            lambda v: v["devices"][0].update(name="leaf1.example.net"),
            "leaf1.example.net: a node's name is a letter followed by letters, digits, - and _ (at most 63)",
        ),
        (lambda v: v["devices"][1].update(name="leaf1"), "leaf1: two devices have this name"),
        (
            lambda v: v["interfaces"][0].update(device={"id": 99}),
            "interface 10: its device is not in the export",
        ),
        (
            lambda v: v.pop("cables"),
            "cables: no list of that name; give devices, interfaces and cables as NetBox's API does",
        ),
        (lambda v: v["cables"].append({}), "cables: an item without an id of its own: {}"),
    ],
)
def test_what_cannot_be_placed_is_one_line(change, said):
    assert refusal(broken(change)) == f"n.json: error: {said}"


def test_cables_that_are_not_there_yet_are_left_out_and_told():
    value = broken(lambda v: v["cables"].append(cable(9, 11, 22, status={"value": "planned"})))
    assert imported(value)[1][-1] == "cables left out: 1, planned"


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"[" * 100_000, b'{"devices": 1}'])
def test_what_is_no_export_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        import_(text, "n.json", Roles(), name="site", delay=Duration(1))
    assert len(str(error.value).splitlines()) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_export_with_any_value_anywhere_is_placed_or_refused(data):
    value = inventory()
    kind = data.draw(st.sampled_from(list(value)))
    item = data.draw(st.sampled_from(value[kind]))
    item[data.draw(st.sampled_from(list(item)))] = data.draw(_JSON)
    try:
        text, _ = imported(value)
        topology.from_text(text)
    except InputError:
        pass


def test_command_prints_a_file_that_eeon_takes_and_nothing_for_half_a_cable(tmp_path):
    file = tmp_path / "n.json"
    file.write_text(json.dumps(inventory()))
    command = ["topology", "import", "netbox", str(file), "--ignore", "pdu", "--name", "site"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert topology.from_text(done.stdout).name == "site"
    file.write_text(json.dumps(broken(lambda v: v["cables"][2].update(b_terminations=[]))))
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_file_that_breaks_our_rules_is_told_by_what_became_of_it(tmp_path):
    file = tmp_path / "n.json"
    file.write_text(json.dumps(broken(lambda v: v["cables"].pop(0))))
    done = CliRunner().invoke(main, ["topology", "import", "netbox", str(file), "--ignore", "pdu"])
    assert done.exit_code == 1
    assert "the topology of" in done.stderr and "a host has exactly one link; this one has 0" in done.stderr
