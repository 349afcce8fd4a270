"""Inventories of NetBox as topologies: what is imported, and what is refused."""

import copy
import json
from pathlib import Path

import pytest
from eeon_control import topology
from eeon_control.errors import InputError
from eeon_control.topology.netbox import ROLES, import_
from eeon_control.units import Duration
from expected_rows import bases, value
from hypothesis import given
from hypothesis import strategies as st

_INVENTORY = value(bases(Path(__file__).parent / "expected" / "topology.yaml")["inventory"])


def inventory() -> dict:
    """Returns an inventory: two leaves, a spine, two servers, a PDU; one has a management port."""
    return copy.deepcopy(_INVENTORY)


def imported(value: dict, **more) -> tuple[str, list[str]]:
    roles = {**ROLES, "ignored": ("pdu",)}
    delay = Duration.parse("500ns")
    return import_(json.dumps(value).encode(), "n.json", roles, name="site", delay=delay, **more)


def test_a_cable_has_one_end_a_side_in_netbox_before_3_3_too():
    old = inventory()
    for one in old["cables"]:
        for side in ("a", "b"):
            [there] = one.pop(f"{side}_terminations")
            one |= {f"termination_{side}_{key}": there[f"object_{key}"] for key in ("type", "id")}
    assert imported(old) == imported(inventory())


def test_a_name_with_thousands_of_digits_is_in_order_too():
    found = inventory()
    found["interfaces"][1]["name"] = "Ethernet" + "9" * 5000
    assert f"# cable 3: Ethernet{'9' * 20}" in imported(found)[0]


def test_each_link_has_its_cable():
    assert "# cable 3: Ethernet10 - et-0/0/0" in imported(inventory())[0]


def test_answers_of_the_api_are_taken_as_they_come_and_pages_are_refused():
    pages = {kind: {"count": len(of), "next": None, "results": of} for kind, of in inventory().items()}
    assert imported(pages) == imported(inventory())
    pages["cables"]["next"] = "https://netbox/api/dcim/cables/?offset=50"
    with pytest.raises(
        InputError, match=r"^n\.json: error: cables: is one page of several; query NetBox with limit=0$"
    ):
        imported(pages)


def test_of_a_server_with_two_links_the_first_interface_is_imported():
    single, bonded = inventory(), inventory()
    for number, device, name in ((23, 2, "Ethernet11"), (42, 4, "eno2")):
        port = {"id": number, "device": {"id": device}, "name": name, "type": {"value": "10gbase-x-sfpp"}}
        single["interfaces"].append(port)
        bonded["interfaces"].append(port)
    first = bonded["cables"][0]
    ends = {f"{side}_terminations": [{"object_type": "dcim.interface", "object_id": number}]
            for side, number in (("a", 23), ("b", 42))}  # fmt: skip
    bonded["cables"].insert(0, first | ends | {"id": 0})
    text, notes = imported(bonded)
    assert text == imported(single)[0]
    assert "cables left out: 1, further links of hosts: a host has one" in notes


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"[" * 100_000, b'{"devices": 1}'])
def test_what_is_no_export_is_refused_in_one_line(text):
    with pytest.raises(InputError) as error:
        import_(text, "n.json", ROLES, name="site", delay=Duration(1))
    assert len(str(error.value).splitlines()) == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.data())
def test_export_with_any_value_anywhere_is_placed_or_refused(data):
    found = inventory()
    kind = data.draw(st.sampled_from(list(found)))
    item = data.draw(st.sampled_from(found[kind]))
    item[data.draw(st.sampled_from(list(item)))] = data.draw(_JSON)
    try:
        text, _ = imported(found)
        topology.from_text(text)
    except InputError:
        pass
