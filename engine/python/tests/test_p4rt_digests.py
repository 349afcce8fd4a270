"""Digests of other programs, and an acknowledgement of another client (P4Runtime 1.5 §9.8, §16.3)."""

import json

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from made_frames import frame
from p4rt_client import INSERT, Names, codes, p4info, primary, program_json, without_struct

pytestmark = pytest.mark.system


def test_a_digest_without_a_struct_is_sent_under_its_name_in_the_p4info() -> None:
    info = p4info("resources")
    switch = Switch(Program(without_struct(info, program_json("resources"))))
    names = Names(info)
    with serve(switch, p4info=info) as server, primary(server.address) as client:
        learn = names.entry("routes", action=names.action("learn"))
        client.write((INSERT, learn), (INSERT, p4r.DigestEntry(digest_id=names["digest_0"])))
        switch.inject(5, frame(0x7F))
        switch.advance_to(1000)
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
