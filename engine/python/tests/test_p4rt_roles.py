"""Roles: arbitration by role, and what a role may write, read and receive (P4Runtime 1.5 §5.2, §5.3, §12,
§13, §16.1).

In the program `resources`, `routes` belongs to the role routing, `filters` to filter, packets to watcher; the
other tables have no owner.
"""

from dataclasses import replace

import pytest
from eeon_engine.p4runtime import Server
from eeon_engine.p4runtime.clients import roles
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program import p4info as reader
from finsy.proto import p4r, rpc_code
from google.protobuf import text_format
from p4rt_client import Client, Connect, failure, p4info

pytestmark = pytest.mark.system


@pytest.fixture
def stranger(resource_server: Server, clients: Connect) -> Client:
    """Returns a client without a stream."""
    return clients(resource_server.address)


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
