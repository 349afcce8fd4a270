"""Roles: arbitration by role, and what a role may write, read and receive (P4Runtime 1.5 §5.2, §5.3, §12,
§13, §16.1).

In the program `resources`, `routes` belongs to the role routing, `filters` to filter, packets to watcher; the
other tables have no owner.
"""

from dataclasses import replace

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import Server
from eeon_engine.p4runtime.clients import roles
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import U128, p4r, rpc_code
from google.protobuf import text_format
from made_frames import frame
from p4rt_client import INSERT, MODIFY, Client, Connect, Names, codes, exact, failure, lpm, p4info, ternary

pytestmark = pytest.mark.system


@pytest.fixture
def stranger(resource_server: Server, clients: Connect) -> Client:
    """Returns a client without a stream."""
    return clients(resource_server.address)


@pytest.fixture
def connect(resource_server: Server, clients: Connect) -> Connect:
    """Returns a function that opens a stream as the primary of its role."""

    def made(role: str) -> Client:
        client = clients(resource_server.address, role=role)
        client.arbitrate()
        return client

    return made


def route(names: Names) -> p4r.TableEntry:
    return names.entry("routes", lpm(1, 0x0A000000, 8), action=names.action("forward", 1))


def filter_entry(names: Names) -> p4r.TableEntry:
    return names.entry("filters", ternary(1, 1, 0xFF), action=names.action("drop"), priority=1)


def unclaimed(names: Names) -> p4r.TableEntry:
    return names.entry("ageing_table", exact(1, 1), action=names.action("drop"))


def test_a_role_writes_its_own_objects_and_unclaimed_ones_only(
    connect: Connect, resource_names: Names
) -> None:
    routing = connect("routing")
    failed = routing.refused(
        (INSERT, route(resource_names)),
        (INSERT, filter_entry(resource_names)),
        (INSERT, unclaimed(resource_names)),
    )
    assert codes(failed) == [rpc_code.OK, rpc_code.PERMISSION_DENIED, rpc_code.OK]
    assert "belongs to role 'filter', the client has role 'routing'" in failed.updates[1][1]


def test_a_role_reads_what_it_may_write(connect: Connect, resource_names: Names) -> None:
    everyone = connect("")
    everyone.write((INSERT, route(resource_names)), (INSERT, filter_entry(resource_names)))
    tables = {name: resource_names[name] for name in ("routes", "filters", "preset")}

    def seen(role: str) -> set[int]:
        return {entry.table_id for entry in everyone.read(p4r.TableEntry(), role=role)}

    assert seen("") == set(tables.values())
    assert seen("routing") == {tables["routes"], tables["preset"]}
    assert seen("filter") == {tables["filters"], tables["preset"]}
    assert seen("somebody") == {tables["preset"]}


def test_the_default_role_has_access_to_everything(connect: Connect, resource_names: Names) -> None:
    connect("").write((INSERT, route(resource_names)), (INSERT, filter_entry(resource_names)))


def test_packets_go_to_the_roles_that_have_them(
    connect: Connect, resource_switch: Switch, resource_names: Names
) -> None:
    routing, watcher, everyone = connect("routing"), connect("watcher"), connect("")
    to_cpu = resource_names.entry("routes", lpm(1, 0, 0), action=resource_names.action("to_cpu"))
    del to_cpu.match[:]
    routing.write((INSERT, to_cpu))
    resource_switch.inject(5, frame(9))
    resource_switch.advance_to(1000)
    for client in (watcher, everyone):
        assert client.receive().packet.metadata[0].value == b"\x05"
    # Nothing was sent to routing: its next message is the answer to this request.
    assert routing.arbitrate(election_id=9).status.code == rpc_code.OK


def test_a_packet_out_of_a_role_without_packets_is_denied(connect: Connect, resource_switch: Switch) -> None:
    packet = p4r.PacketOut(payload=frame(1), metadata=[p4r.PacketMetadata(metadata_id=1, value=b"\x02")])
    routing, watcher = connect("routing"), connect("watcher")
    routing.send(packet=packet)
    error = routing.receive().error
    assert error.canonical_code == rpc_code.PERMISSION_DENIED
    assert error.packet_out.packet_out == packet
    assert "belong to role 'watcher'" in error.message
    watcher.send(packet=packet)
    # A stream is ordered: after this answer, the packet is in the switch.
    watcher.arbitrate(election_id=9)
    assert [port for _, port, _ in resource_switch.advance_to(1000)] == [2]


def test_a_role_has_an_arbitration_of_its_own_by_name_and_by_number(
    resource_server: Server, clients: Connect
) -> None:
    by_name, by_number = clients(resource_server.address), clients(resource_server.address)
    assert by_name.arbitrate(role=p4r.Role(name="routing")).status.code == rpc_code.OK
    answer = by_number.arbitrate(role=p4r.Role(id=7))
    assert answer.status.code == rpc_code.OK
    assert (answer.role.name, answer.role.id) == ("", 7)
    by_number.write(role_id=7)
    failure(rpc_code.NOT_FOUND, "no role 8", by_number.write, role_id=8)


def test_a_role_by_name_and_number_at_once_is_invalid(stranger: Client) -> None:
    both = p4r.Role(name="routing", id=7)
    failure(rpc_code.INVALID_ARGUMENT, "give the name alone", stranger.arbitrate, role=both)


def test_a_name_of_megabytes_is_refused_in_a_short_sentence(stranger: Client) -> None:
    stranger.role = "x" * (2 << 20)
    for call in (stranger.arbitrate, stranger.write):
        failed = failure(rpc_code.INVALID_ARGUMENT, "the role's name has 2097152 characters", call)
        assert len(failed.message) < 300


def test_a_role_configuration_of_no_agreed_scheme_is_invalid(stranger: Client) -> None:
    role = p4r.Role(name="narrow")
    role.config.Pack(U128.encode(1))
    failure(rpc_code.INVALID_ARGUMENT, r"is not supported.*@p4runtime_role", stranger.arbitrate, role=role)


def test_a_role_may_not_change_counters_of_a_table_that_another_claims(
    connect: Connect, resource_names: Names
) -> None:
    entry = p4r.DirectCounterEntry(table_entry=route(resource_names))
    failed = connect("filter").refused((MODIFY, entry))
    assert codes(failed) == [rpc_code.PERMISSION_DENIED]


@pytest.mark.parametrize(
    "entity",
    [
        "table_entry { table_id: 7 }",
        "direct_counter_entry { table_entry { table_id: 7 } }",
        "direct_meter_entry { table_entry { table_id: 7 } }",
        "action_profile_member { action_profile_id: 7 }",
        "action_profile_group { action_profile_id: 7 }",
        "counter_entry { counter_id: 7 }",
        "meter_entry { meter_id: 7 }",
        "register_entry { register_id: 7 }",
        "value_set_entry { value_set_id: 7 }",
        "digest_entry { digest_id: 7 }",
    ],
)
def test_entities_of_each_kind_belong_to_the_role_of_their_object(entity: str) -> None:
    schema = replace(reader.read(p4info("resources")), owners={7: "filter"})
    asked, role = text_format.Parse(entity, p4r.Entity()), roles.of("routing", 0)
    with pytest.raises(StatusError, match="belongs to role 'filter'"):
        roles.check_write(schema, role, asked)
    assert not roles.is_visible(schema, role, asked)
