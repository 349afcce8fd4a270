"""Members, groups and one-shots over P4Runtime (1.5 §9.2)."""

from collections.abc import Iterator

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Client,
    Names,
    codes,
    lpm,
    one_shot,
    p4info,
    ports,
    primary,
    program_json,
)

pytestmark = pytest.mark.system


def spread(switch: Switch, count: int = 400) -> dict[int, int]:
    """Returns the number of frames that leave on each port, of `count` frames with different keys."""
    for key in range(count):
        switch.inject(1, frame(0x0A000000 + key * 7919))
    found: dict[int, int] = {}
    for port in ports(switch.advance_to(switch.now_ps + 1000)):
        found[port] = found.get(port, 0) + 1
    return found


# ---- one-shots


def test_equal_one_shots_share_their_members(client: Client, switch: Switch, names: Names) -> None:
    """The selector holds 128 members; 500 routes over the same 16 next hops fit."""
    action = one_shot(*((names.action("forward", port), 1) for port in range(16)))
    routes = [names.entry("lpm_table", lpm(1, number << 16, 16), action=action) for number in range(500)]
    client.write(*((INSERT, route) for route in routes))
    assert len(client.read(p4r.TableEntry(table_id=names["lpm_table"]))) == 500
    assert set(spread(switch)) <= set(range(16))
    client.write(*((DELETE, route) for route in routes))
    # All hidden members are gone: the same number of others fits again.
    action = one_shot(*((names.action("forward", port), 1) for port in range(100, 116)))
    client.write((INSERT, names.entry("lpm_table", lpm(1, 0, 16), action=action)))


def test_a_one_shot_is_replaced_by_another(client: Client, switch: Switch, names: Names) -> None:
    key = lpm(1, 0x0A000000, 8)
    client.write((INSERT, names.entry("lpm_table", key, action=one_shot((names.action("forward", 1), 16)))))
    for round_ in range(20):  # More rounds than the selector could hold if a member were left.
        new = one_shot((names.action("forward", round_), 8), (names.action("forward", round_ + 1), 8))
        client.write((MODIFY, names.entry("lpm_table", key, action=new)))
    assert set(spread(switch)) == {19, 20}


def test_a_selector_that_is_full_is_exhausted_and_nothing_is_left_behind(
    client: Client, switch: Switch, names: Names
) -> None:
    def route(number: int) -> p4r.TableEntry:
        action = one_shot(*((names.action("forward", number * 16 + port), 1) for port in range(16)))
        return names.entry("lpm_table", lpm(1, number << 16, 16), action=action)

    for number in range(8):
        client.write((INSERT, route(number)))
    failed = client.refused((INSERT, route(8)))
    assert codes(failed) == [rpc_code.RESOURCE_EXHAUSTED]
    client.write((DELETE, route(0)), (INSERT, route(8)))
    assert len(client.read(p4r.TableEntry(table_id=names["lpm_table"]))) == 8


@pytest.fixture
def unweighted() -> Iterator[Client]:
    """Connects to a switch whose selector does not allow weights."""
    info = p4info()
    selector = next(p for p in info.action_profiles if p.preamble.alias == "selector")
    selector.weights_disallowed = True
    with serve(Switch(Program(program_json())), p4info=info) as server, primary(server.address) as client:
        yield client


def test_where_weights_are_disallowed_none_is_the_only_one(unweighted: Client, names: Names) -> None:
    def entry(weight: int) -> p4r.TableEntry:
        action = one_shot((names.action("forward", 1), weight), (names.action("forward", 2), weight))
        return names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=action)

    assert codes(unweighted.refused((INSERT, entry(1)))) == [rpc_code.INVALID_ARGUMENT]
    unweighted.write((INSERT, entry(0)))
    assert unweighted.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry(0)]
