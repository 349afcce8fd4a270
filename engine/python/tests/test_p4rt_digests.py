"""Digests over P4Runtime: configuration, lists, acknowledgements (P4Runtime 1.5 §9.8, §16.3)."""

import json

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4d, p4r, rpc_code
from made_frames import frame
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Client,
    Names,
    codes,
    p4info,
    primary,
    program_json,
    without_struct,
)

pytestmark = pytest.mark.system

SECOND = 10**9


def config(names: Names, **fields: int) -> p4r.DigestEntry:
    return p4r.DigestEntry(digest_id=names["learned_t"], config=p4r.DigestEntry.Config(**fields))


@pytest.fixture
def learning(resources: Client, resource_names: Names) -> Client:
    """Configures the digest of every frame."""
    learn = resource_names.entry("routes", action=resource_names.action("learn"))
    resources.write((INSERT, learn))
    return resources


def receive(switch: Switch, *keys: int) -> None:
    for key in keys:
        switch.inject(5, frame(key))
    switch.advance_to(switch.now_ps + 1000)


def learned(offset: bytes) -> p4d.P4Data:
    """Returns the program's digest of a frame from port 5: source, port, last byte of the key as int<8>."""
    members = [bytes.fromhex("020000000002"), b"\x05", offset]
    return p4d.P4Data(struct=p4d.P4StructLike(members=[p4d.P4Data(bitstring=m) for m in members]))


def test_a_full_list_is_sent_with_its_type_and_order(
    learning: Client, resource_switch: Switch, resource_names: Names
) -> None:
    learning.write((INSERT, config(resource_names, max_list_size=3, max_timeout_ns=1000 * SECOND)))
    receive(resource_switch, 1, 0x7F, 0xFF)
    found = learning.receive().digest
    assert found.digest_id == resource_names["learned_t"]
    assert found.list_id == 1
    assert list(found.data) == [learned(b"\x01"), learned(b"\x7f"), learned(b"\xff")]
    assert found.timestamp > 0
    # Ids go on after a change, so that an acknowledgement of the first list is not one of the next.
    learning.write((MODIFY, config(resource_names)))
    receive(resource_switch, 2)
    assert learning.receive().digest.list_id == 2


def test_a_digest_without_a_struct_is_sent_under_its_name_in_the_p4info() -> None:
    info = p4info("resources")
    switch = Switch(Program(without_struct(info, program_json("resources"))))
    names = Names(info)
    with serve(switch, p4info=info) as server, primary(server.address) as client:
        learn = names.entry("routes", action=names.action("learn"))
        client.write((INSERT, learn), (INSERT, p4r.DigestEntry(digest_id=names["digest_0"])))
        receive(switch, 0x7F)
        found = client.receive().digest
    assert found.digest_id == names["digest_0"]
    assert [value.bitstring for value in found.data[0].tuple.members][1:] == [b"\x05", b"\x7f"]


def test_digests_of_one_name_in_the_program_are_not_listened_to() -> None:
    info = p4info("resources")
    parsed = json.loads(without_struct(info, program_json("resources"), in_program="digest"))
    parsed["learn_lists"].append({**parsed["learn_lists"][0], "id": 2})
    info.digests.add().CopyFrom(info.digests[0])
    info.digests[1].preamble.id += 1
    info.digests[1].preamble.name = info.digests[1].preamble.alias = "digest_1"
    switch = Switch(Program(json.dumps(parsed).encode()))
    names = Names(info)
    with serve(switch, p4info=info) as server, primary(server.address) as client:
        refused = client.refused((INSERT, p4r.DigestEntry(digest_id=names["digest_1"])))
    assert codes(refused) == [rpc_code.UNIMPLEMENTED]
    assert "digest 'digest_1' has no name in the program" in refused.updates[0][1]


def test_a_list_that_is_not_full_is_sent_when_its_time_has_come(
    learning: Client, resource_switch: Switch, resource_names: Names
) -> None:
    learning.write((INSERT, config(resource_names, max_list_size=3, max_timeout_ns=1)))
    receive(resource_switch, 1)
    assert list(learning.receive().digest.data) == [learned(b"\x01")]


def test_a_message_is_not_repeated_until_it_is_acknowledged(
    learning: Client, resource_switch: Switch, resource_names: Names
) -> None:
    learning.write((INSERT, config(resource_names, ack_timeout_ns=1000 * SECOND)))
    receive(resource_switch, 1, 1)
    first = learning.receive().digest
    receive(resource_switch, 1, 2)
    # The repetition of 1 is suppressed: the next message is 2.
    second = learning.receive().digest
    assert list(second.data) == [learned(b"\x02")]
    learning.send(digest_ack=p4r.DigestListAck(digest_id=first.digest_id, list_id=first.list_id))
    learning.arbitrate()
    receive(resource_switch, 1, 2, 3)
    assert list(learning.receive().digest.data) == [learned(b"\x01")]
    assert list(learning.receive().digest.data) == [learned(b"\x03")]


def test_what_was_learned_before_anybody_listened_is_not_sent(
    learning: Client, resource_switch: Switch, resource_names: Names
) -> None:
    receive(resource_switch, 1)
    learning.write((INSERT, config(resource_names)))
    receive(resource_switch, 2)
    assert list(learning.receive().digest.data) == [learned(b"\x02")]


def test_nothing_is_sent_after_delete(
    learning: Client, resource_switch: Switch, resource_names: Names
) -> None:
    learning.write((INSERT, config(resource_names)), (DELETE, config(resource_names)))
    receive(resource_switch, 1)
    learning.write((INSERT, config(resource_names)))
    receive(resource_switch, 2)
    assert list(learning.receive().digest.data) == [learned(b"\x02")]


def test_configurations_are_inserted_modified_read_and_deleted(
    resources: Client, resource_names: Names
) -> None:
    one = config(resource_names, max_timeout_ns=1, max_list_size=2, ack_timeout_ns=3)
    other = config(resource_names)
    assert resources.read(p4r.DigestEntry()) == []
    assert codes(resources.refused((MODIFY, one), (DELETE, one))) == [rpc_code.NOT_FOUND] * 2
    resources.write((INSERT, one))
    assert resources.read(p4r.DigestEntry(digest_id=one.digest_id)) == [one]
    assert codes(resources.refused((INSERT, other))) == [rpc_code.ALREADY_EXISTS]
    resources.write((MODIFY, other))
    assert resources.read(p4r.DigestEntry()) == [other]
    resources.write((DELETE, one))
    assert resources.read(p4r.DigestEntry()) == []


def test_an_unknown_digest_is_invalid_in_an_entry_and_in_an_acknowledgement(resources: Client) -> None:
    assert codes(resources.refused((INSERT, p4r.DigestEntry(digest_id=1)))) == [rpc_code.INVALID_ARGUMENT]
    assert codes(resources.read_refused(p4r.DigestEntry(digest_id=1))) == [rpc_code.INVALID_ARGUMENT]
    ack = p4r.DigestListAck(digest_id=1, list_id=2)
    resources.send(digest_ack=ack)
    error = resources.receive().error
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert error.digest_list_ack.digest_list_ack == ack


def test_an_acknowledgement_of_a_backup_is_denied(
    resources: Client, resource_server: object, resource_names: Names
) -> None:
    backup = Client(resource_server.address)  # type: ignore[attr-defined]
    backup.arbitrate(election_id=0)
    backup.send(digest_ack=p4r.DigestListAck(digest_id=resource_names["learned_t"]))
    assert backup.receive().error.canonical_code == rpc_code.PERMISSION_DENIED
    backup.close()
