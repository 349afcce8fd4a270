"""Members, groups and one-shots over P4Runtime (1.5 §9.2)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4i, p4r, rpc_code
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
    return Counter(ports(switch.advance_to(switch.now_ps + 1000)))


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


@contextmanager
def selector_with(**fields: object) -> Iterator[Client]:
    """Connects to a switch whose P4Info says this of the selector."""
    info = p4info()
    selector = next(p for p in info.action_profiles if p.preamble.alias == "selector")
    selector.ClearField("max_group_size")
    selector.MergeFrom(p4i.ActionProfile(**fields))
    with serve(Switch(Program(program_json())), p4info=info) as server, primary(server.address) as client:
        yield client


@pytest.mark.parametrize(
    ("fields", "accepted", "refused", "said"),
    [
        ({"weights_disallowed": True}, (0, 0), (1, 1), "disallows weights"),
        (
            {"sum_of_members": {"max_member_weight": 3}, "max_group_size": 2},
            (3, 3),
            (1, 4),
            "weight 4, the limit is 3",
        ),
        ({"sum_of_members": {}, "max_group_size": 2}, (3, 3), (1, 1, 1), "size 3, the limit is 2"),
        ({}, (9, 9), (65_536, 1), "sum is 65537, the limit is 65536"),
    ],
)
def test_weights_have_the_limits_of_their_profile(
    names: Names, fields: dict[str, object], accepted: tuple[int], refused: tuple[int], said: str
) -> None:
    def entry(weights: tuple[int]) -> p4r.TableEntry:
        action = one_shot(*((names.action("forward", port), weight) for port, weight in enumerate(weights)))
        return names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=action)

    with selector_with(**fields) as client:
        assert said in client.refused((INSERT, entry(refused))).updates[0][1]
        client.write((INSERT, entry(accepted)))
        assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry(accepted)]
