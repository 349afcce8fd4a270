"""The log of packets, in BMv2's words, with programs that were confirmed on BMv2
(`engine/simple_switch/tests/constructs`)."""

import json
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from eeon_engine import LiveSwitch, Port, Program, Switch
from eeon_engine.json_documents import take_journey
from eeon_engine.switch_command.logs import TRACE
from eeon_engine.switch_command.packet_log import PacketLog
from p4rt_client import PATCH
from switch_process import local_grpc, local_thrift, running
from test_switch_command import HEADER, record

CONSTRUCTS = Path(__file__).resolve().parents[2] / "simple_switch/tests/constructs"
EEON = Path(__file__).resolve().parents[3] / "p4src/compiled/eeon.json"
ROUTER = Path(__file__).resolve().parents[3] / "examples/own_program/router.json"
SECOND_PS = 10**12
IP = "020000000001 020000000002 0800 4500001c000000004011 66cf 0a000001 0a000002 0001 0002 0008 0000"


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def logged(
    program: Path, *frames: str, prepare: Callable[[Switch], object] | None = None, level: int = TRACE
) -> list[str]:
    """Returns the log of frames that arrive on port 0; lines of packet 0.0 are without their prefix."""
    switch = Switch(Program(program.read_bytes(), for_tracing=True), ports=[Port(n) for n in range(8)])
    switch.follow(0)
    if prepare is not None:
        prepare(switch)
    log, kept = logging.Logger("test", level), _Kept()
    log.addHandler(kept)
    packet_log = PacketLog(switch, log)
    for frame in frames:
        switch.inject(0, bytes.fromhex(frame))
        switch.advance_to(switch.now_ps + SECOND_PS)
        packet_log.write()
    return [line.removeprefix("[0.0] [cxt 0] ") for line in kept.lines]


def of_construct(name: str, *frames: str, prepare: Callable[[Switch], object] | None = None) -> list[str]:
    return logged(CONSTRUCTS / f"{name}.json", *frames, prepare=prepare)


def switch_lines(lines: list[str]) -> list[str]:
    """Returns the lines of the switch itself, about copies and queues."""
    begins = "Cloning|Replicating|Multicast|Res|Rec|Egress port|Dropping|Transmitting|Processing"
    return [line for line in lines if re.match(rf"(\[\S+\] \[cxt 0\] )?({begins})", line)]


def test_a_routed_packet_is_told_from_its_parser_to_its_wire() -> None:
    def route(switch: Switch) -> None:
        key = [("lpm", bytes([10, 0, 0, 0]), 24)]
        switch.mt_add_entry("ingress.routes", key, "ingress.forward", [b"\x02\x00\x00\x00\x00\x09", b"\x02"])

    assert logged(ROUTER, IP, prepare=route) == [
        "Processing packet received on port 0",
        "Parser 'parser': start",
        "Parser 'parser' entering state 'start'",
        "Extracting header 'ethernet'",
        "Parser state 'start': key is 0800",
        "Bytes parsed: 14",
        "Parser 'parser' entering state 'ipv4'",
        "Extracting header 'ipv4'",
        "Parser state 'ipv4' has no switch, going to default next state",
        "Bytes parsed: 34",
        "Parser 'parser': end",
        "Pipeline 'ingress': start",
        'Condition "node_2" (node_2) is true',
        "Applying table 'ingress.routes'",
        "Looking up key:\n* hdr.ipv4.dst        : 0a000002\n",
        "Table 'ingress.routes': hit with handle 0",
        "Dumping entry 0\nMatch key:\n* hdr.ipv4.dst        : LPM       0a000000/24\n"
        "Action entry: ingress.forward - 20000000009,2,\n",
        "Action entry is ingress.forward - 20000000009,2,",
        "Action ingress.forward",
        "Primitive (no source info)",
        "Primitive (no source info)",
        "Primitive (no source info)",
        "Primitive (no source info)",
        "Pipeline 'ingress': end",
        "Egress port is 2",
        "Pipeline 'egress': start",
        'Condition "node_7" (node_7) is false',
        "Pipeline 'egress': end",
        "Deparser 'deparser': start",
        "Updating checksum 'cksum'",
        "Deparsing header 'ethernet'",
        "Deparsing header 'ipv4'",
        "Deparser 'deparser': end",
        "Transmitting packet of size 42 out of port 2",
    ]


def test_a_parser_that_fails_says_with_what() -> None:
    # The body should have two bytes, but has one.
    lines = of_construct("parser_errors", "02bb")
    at = lines.index("Parser 'parser' entering state 'body'")
    assert lines[at + 1 : at + 4] == [
        "Extracting header 'body'",
        "Exception while parsing: PacketTooShort",
        "Parser 'parser': end",
    ]


def test_a_full_header_stack_ends_the_parser_without_a_line_of_its_own() -> None:
    lines = of_construct("header_stack", "0000 00 00 00 00 01")
    at = lines.index("Exception while parsing: StackOutOfBounds")
    assert lines[at - 1] == "Parser 'parser' entering state 'labels'"
    assert [line for line in lines if "stack 0" in line] == [
        f"Extracting to header stack 0, next header is {number}" for number in (4, 5, 6, 7)
    ]


def test_checksums_are_told_when_they_are_verified_and_updated() -> None:
    lines = of_construct("checksums", "01 02 0000 fefe aabb")
    assert [line for line in lines if "hecksum '" in line] == [
        "Checksum 'cksum_1': computed 0xfefd - actual 0x0",
        "Verified checksum 'cksum_1': failed",
        "Checksum 'cksum_1' is not correct",
        "Skipping checksum 'cksum_2' verification because condition not met",
        "Updating checksum 'cksum'",
        "Updating checksum 'cksum_0'",
    ]


def test_a_checksum_of_a_header_that_is_not_there_is_told_to_be_skipped_for_that_reason() -> None:
    lines = of_construct("checksums", "01")
    assert [line for line in lines if "verification" in line] == [
        "Skipping checksum 'cksum_1' verification because target field invalid",
        "Skipping checksum 'cksum_2' verification because target field invalid",
    ]


def test_a_parsers_assignment_is_told_with_its_value_after_a_union_has_changed_its_member(
    tmp_path: Path,
) -> None:
    program = json.loads((CONSTRUCTS / "header_union.json").read_bytes())
    [both] = [one for one in program["parsers"][0]["parse_states"] if one["name"] == "parse_both"]
    to = {"type": "field", "value": ["a.word", "value"]}
    both["parser_ops"].append({"op": "set", "parameters": [to, {"type": "hexstr", "value": "0x0007"}]})
    path = tmp_path / "union.json"
    path.write_text(json.dumps(program))
    lines = logged(path, "00 03 bb 1234")
    assert "Parser set: setting field 'a.word.value' to 7" in lines


@pytest.mark.parametrize("is_followed", [True, False])
def test_an_exit_is_told_to_interrupt_only_where_something_follows(tmp_path: Path, is_followed: bool) -> None:
    program = json.loads((CONSTRUCTS / "truncate.json").read_bytes())
    ingress = next(one for one in program["pipelines"] if one["name"] == "ingress")
    action = next(action for action in program["actions"] if action["name"] == "truncate16")
    action["primitives"].append({"op": "exit", "parameters": []})
    if not is_followed:
        first = next(table for table in ingress["tables"] if table["actions"] == ["truncate16"])
        first.update(next_tables={"truncate16": None}, base_default_next=None)
    path = tmp_path / "exit.json"
    path.write_text(json.dumps(program))
    lines = logged(path, "00" * 40)
    assert ("Packet is marked for exit, interrupting pipeline" in lines) == is_followed


def test_a_loop_without_end_is_told_up_to_the_fault(tmp_path: Path) -> None:
    program = json.loads((CONSTRUCTS / "truncate.json").read_bytes())
    first = next(action["primitives"] for action in program["actions"] if action["name"] == "truncate16")
    first += [first[0], {"op": "_jump", "parameters": [{"type": "hexstr", "value": "0x1"}]}]
    path = tmp_path / "loop.json"
    path.write_text(json.dumps(program))
    primitive, failed, dropped = logged(path, "00" * 40)[-3:]
    assert primitive == "Primitive (no source info)"
    assert failed.startswith("Pipeline 'ingress' failed: the packet took more steps than the limit allows")
    assert dropped == "Dropping packet: program fault"


def test_a_programs_own_messages_stand_where_they_were_said() -> None:
    lines = of_construct("log_messages", "07f9")
    at = lines.index("plain")
    assert lines[at - 1] == "Primitive (no source info)"
    assert [line for line in lines if line[0].islower()] == [
        "plain", "a is 7 and b is -7", "named 7 here", "valid 1",
    ]  # fmt: skip


def test_a_clone_of_ingress_is_parsed_again_under_a_name_of_its_own() -> None:
    lines = of_construct(
        "clone", "01 00 0005 aabb", prepare=lambda switch: switch.mirroring_session_add(5, 2, None, 0)
    )
    assert switch_lines(lines) == [
        "Processing packet received on port 0",
        "Cloning packet at ingress",
        "Cloning packet to egress port 2",
        "Egress port is 1",
        "Transmitting packet of size 11 out of port 1",
        "[0.1] [cxt 0] Transmitting packet of size 11 out of port 2",
    ]


def test_the_lines_of_statements_begin_with_their_place_in_the_source() -> None:
    lines = logged(EEON, IP)
    assert any(re.match(r"\S+\.p4\(\d+\) Primitive \S", line) for line in lines)
    assert any(
        re.match(r'\S+\.p4\(\d+\) Condition ".+" \(node_\d+\) is (true|false)', line) for line in lines
    )
    assert "Updated counter 'received' at index 6" in lines


def test_the_level_debug_leaves_out_what_bmv2_says_at_trace() -> None:
    all_lines, lines = (logged(EEON, IP, level=level) for level in (TRACE, logging.DEBUG))
    left_out = [line for line in all_lines if line not in lines]
    kinds = {re.sub(r"^\S+\(\d+\) ", "", line).split()[0] for line in left_out}
    assert {"Action", "Applying", "Bytes", "Condition", "Primitive", "Updated"} <= kinds
    assert not kinds & {"Table", "Looking", "Parser", "Extracting", "Pipeline", "Deparsing", "Transmitting"}


def test_replicas_and_rounds_have_numbers_of_their_own() -> None:
    def group(switch: Switch) -> None:
        switch.mc_mgrp_create(5)
        switch.mc_node_associate(5, switch.mc_node_create(9, [2, 3], []))

    assert switch_lines(of_construct("multicast", "0005 ff aabb", prepare=group)) == [
        "Processing packet received on port 0",
        "Multicast requested for packet",
        "Replicating packet on port 2",
        "Replicating packet on port 3",
        "[0.1] [cxt 0] Transmitting packet of size 10 out of port 2",
        "[0.2] [cxt 0] Transmitting packet of size 10 out of port 3",
    ]
    assert switch_lines(of_construct("resubmit", "01 00 aabb")) == [
        "Processing packet received on port 0",
        "Resubmitting packet",
        "[0.1] [cxt 0] Processing packet received on port 0",
        "[0.1] [cxt 0] Egress port is 1",
        "[0.1] [cxt 0] Transmitting packet of size 9 out of port 1",
    ]
    assert "Recirculating packet" in switch_lines(of_construct("recirculate", "01 00 aabb"))


def test_a_member_of_a_group_is_told_with_its_group() -> None:
    def members(switch: Switch) -> None:
        for value in (b"\x51", b"\x52"):
            switch.mt_act_prof_add_member("action_profile_1", "ingress.set_selected", [value])
        group = switch.mt_act_prof_create_group("action_profile_1")
        switch.mt_act_prof_add_member_to_group("action_profile_1", 1, group)
        switch.mt_indirect_ws_add_entry("ingress.selecting", [("exact", b"\x01")], group)

    lines = of_construct("action_selector", "01 00000001", prepare=members)
    at = lines.index("Applying table 'ingress.selecting'")
    assert lines[at + 2 : at + 7] == [
        "Choosing member 1 from group 0",
        "Table 'ingress.selecting': hit with handle 0",
        "Dumping entry 0\nMatch key:\n* hdr.request.key     : EXACT     01\nIndex: group(0)\n",
        "Action entry is ingress.set_selected - 52,",
        "Action ingress.set_selected",
    ]


def frames(folder: Path, count: int) -> list[str]:
    """Returns options of a switch that reads this number of frames for port 0 from a file."""
    frame = bytes(64)
    (folder / "a_in.pcap").write_bytes(HEADER + count * record(frame))
    (folder / "b_in.pcap").write_bytes(HEADER)
    return ["-i", "0@a", "-i", "1@b", "--use-files", "0", *local_thrift(), str(PATCH), *local_grpc()]


@pytest.mark.system
def test_a_log_leaves_no_packet_out_however_fast_they_come(tmp_path: Path) -> None:
    count = 6000
    with running("--log-file", "packets", *frames(tmp_path, count), cwd=tmp_path) as switch:
        switch.wait_for("Server listening on")
        path = tmp_path / "packets.txt"
        deadline = time.monotonic() + 120
        while f"[{count - 1}.0] [cxt 0] Transmitting" not in path.read_text():
            assert time.monotonic() < deadline, path.read_text()[-300:]
            time.sleep(0.2)
        switch.end()
    text = "".join(part.read_text() for part in sorted(tmp_path.glob("packets*.txt")))
    assert "missing" not in text


@pytest.mark.system
@pytest.mark.parametrize(("level", "is_told"), [("debug", True), ("info", False)])
def test_the_level_says_whether_packets_are_told(tmp_path: Path, level: str, is_told: bool) -> None:
    with running("--log-console", "-L", level, *frames(tmp_path, 1), cwd=tmp_path) as switch:
        switch.wait_for("end of 'a_in.pcap' after 1 frames")
        _, output = switch.end()
    assert ("[D]" in output and "Transmitting packet of size 64 out of port 1" in output) == is_told
    assert "[T]" not in output


def test_packets_of_a_program_that_is_loaded_later_are_told_in_full() -> None:
    switch = LiveSwitch(interfaces=[], cpu_port=510, follows_all=True)
    for program in (Program(PATCH.read_bytes()), Program(ROUTER.read_bytes())):
        switch.load_program(program)
        assert switch.program is program
        switch.packet_out(bytes.fromhex(IP))
        told = [step for step in take_journey(switch)["steps"] if step["step"] == "parsed"]
        assert [event["event"] for event in told[0]["events"]][:1] == ["state"]
