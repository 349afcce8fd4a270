"""Packet tests of a user's program: writes, packets and refusals of `PacketSwitch`."""

from pathlib import Path

import pytest
from eeon_engine import ConfigError, ProgramError
from eeon_engine.packet_test import PacketSwitch

PROGRAMS = Path(__file__).parent / "programs"
EXAMPLE = Path(__file__).parents[3] / "examples" / "own_program"


@pytest.fixture
def router() -> tuple[Path, Path]:
    return EXAMPLE / "router.json", EXAMPLE / "router.p4info.txtpb"


def test_entries_are_written_by_name_and_packets_leave_as_they_say(eeon_switch, router):
    switch = eeon_switch(*router)
    assert isinstance(switch, PacketSwitch)
    frame = bytes.fromhex("020000000001020000000002080045000014000000004000a0e70a0001010a000303")
    assert switch.send(1, frame) == []
    switch.insert("routes", {"hdr.ipv4.dst": "10.0.3.0/24"}, "forward", next_hop="02:00:00:00:02:fd", port=3)
    [departure] = switch.send(1, frame)
    assert departure == (3, departure.frame) and departure.frame[22] == 63
    switch.set_default("routes", "forward", next_hop=1, port=4)
    assert [out for out, _ in switch.send(1, frame.replace(b"\x0a\0\3\3", b"\x0a\0\4\4"))] == [4]


def test_a_parameter_called_as_an_argument_of_insert_is_one_of_params(eeon_switch, router, tmp_path):
    files = [tmp_path / file.name for file in router]
    for file, made in zip(router, files, strict=True):
        made.write_text(file.read_text().replace('"port"', '"priority"'))
    switch = eeon_switch(*files)
    key = {"hdr.ipv4.dst": "10.0.3.0/24"}
    with pytest.raises(ConfigError, match=r"^action forward: its parameter 'priority' .* params=\{"):
        switch.insert("routes", key, "forward", next_hop=1, priority=3)
    switch.insert("routes", key, "forward", next_hop=1, params={"priority": 3})
    frame = bytes.fromhex("020000000001020000000002080045000014000000004000a0e70a0001010a000303")
    assert [out for out, _ in switch.send(1, frame)] == [3]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (("nowhere", {}, "forward"), "nowhere"),
        (("routes", {"hdr.ipv4.dst": "10.0.3.0/24"}, "nothing"), "nothing"),
        (("routes", {"hdr.ipv4.src": "10.0.3.0/24"}, "drop"), "hdr.ipv4.src"),
        (("routes", {"hdr.ipv4.dst": "10.0.3.0/99"}, "drop"), "99"),
    ],
)
def test_an_entry_that_the_program_lacks_is_refused_with_its_name(eeon_switch, router, entry, problem):
    with pytest.raises(ConfigError, match=problem):
        eeon_switch(*router).insert(*entry)


def test_a_value_of_none_is_refused_with_its_name(eeon_switch, router):
    insert, set_default = (getattr(eeon_switch(*router), name) for name in ("insert", "set_default"))
    for call, name in (
        (lambda: insert("routes", {"hdr.ipv4.dst": None}, "drop"), "hdr.ipv4.dst"),
        (lambda: insert("routes", {"hdr.ipv4.dst": "10.0.0.0/8"}, "forward", next_hop=1, port=None), "port"),
        (lambda: set_default("routes", "forward", next_hop=None, port=1), "next_hop"),
    ):
        with pytest.raises(ConfigError, match=f"^table routes: '{name}' is None; give a number"):
            call()


@pytest.mark.parametrize("port", [512, 65535, 65536, -1])
def test_a_packet_into_a_port_that_no_switch_has_is_refused(eeon_switch, router, port):
    with pytest.raises(ConfigError, match=f"^port {port}: a switch has ports 0 to 511$"):
        eeon_switch(*router).send(port, b"\0" * 64)


def test_a_packet_into_the_cpu_port_is_refused_with_the_call_that_sends_it(eeon_switch, router):
    with pytest.raises(ConfigError, match=r"port 510 is the CPU port; control\.packet_out sends"):
        eeon_switch(*router).send(510, b"\0" * 64)


def test_a_packet_that_no_switch_takes_is_refused_with_the_limit(eeon_switch, router):
    assert eeon_switch(*router).send(1, bytes(65_535)) == []
    with pytest.raises(ConfigError, match=r"^a packet of 65536 bytes; a switch takes up to 65535$"):
        eeon_switch(*router).send(1, bytes(65_536))


@pytest.mark.parametrize("packet", [64, 0, True, [1, 2], "0a0b", None])
def test_what_is_no_packet_is_refused(eeon_switch, router, packet):
    with pytest.raises(TypeError, match=f"a packet must be bytes .* is of type {type(packet).__name__}$"):
        eeon_switch(*router).send(1, packet)


def test_a_refusal_begins_with_the_name_of_what_was_written(eeon_switch, router):
    switch = eeon_switch(*router)
    with pytest.raises(ConfigError, match=r"^table routes: .*bitwidth 9: 1000$"):
        switch.insert("routes", {"hdr.ipv4.dst": "10.0.3.0/24"}, "forward", next_hop=1, port=1000)
    with pytest.raises(ConfigError, match=r"^multicast group 4: "):
        switch.multicast(4, ["a"])
    with pytest.raises(ConfigError, match=r"^clone session 5: "):
        switch.clone_session(5, ["a"])


def test_entries_without_a_p4info_and_files_that_are_no_programs_are_refused(eeon_switch, router, tmp_path):
    with pytest.raises(ConfigError, match="P4Info"):
        eeon_switch(router[0]).insert("routes", {}, "drop")
    wrong = tmp_path / "wrong"
    for content in (b"{", b"\n\xff\x01"):  # The second is of the binary format.
        wrong.write_bytes(content)
        with pytest.raises(ConfigError, match="is not P4Info"):
            eeon_switch(router[0], wrong)
    with pytest.raises(ProgramError):
        eeon_switch(wrong)
    with pytest.raises(FileNotFoundError):
        eeon_switch(tmp_path / "absent.json")


def test_a_replica_to_the_number_of_the_drop_port_leaves_there(eeon_switch):
    switch = eeon_switch(PROGRAMS / "everything.json", PROGRAMS / "everything.p4info.txtpb")
    switch.multicast(7, [3, 511])
    switch.clone_session(5, [511])
    switch.insert("exact_table", {"value": 1}, "flood", group=7)
    switch.insert("exact_table", {"value": 2}, "mirror", port=4, session=5)
    switch.insert("exact_table", {"value": 3}, "forward", port=511)
    frame = bytes.fromhex("0200000000010200000000021234")
    sent = {value: switch.send(1, frame + value.to_bytes(4, "big")) for value in (1, 2, 3)}
    assert [sorted(out for out, _ in sent[value]) for value in (1, 2, 3)] == [[3, 511], [4, 511], []]
