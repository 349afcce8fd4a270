"""The log of packets, in BMv2's words, with programs that were confirmed on BMv2
(`engine/simple_switch/tests/constructs`)."""

import ast
import json
import logging
import re
import sys
import time
from collections.abc import Iterable
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

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


OF_SWITCH = (
    r"^(\[\S+\] \[cxt 0\] )?"
    "(Cloning|Replicating|Multicast|Res|Rec|Egress port|Dropping|Transmitting|Processing)"
)
"""Begins the lines of the switch itself, about copies and queues."""


def logged(
    program: Path | bytes, frame: str, calls: Iterable[tuple[str, Any]] = (), level: int = TRACE
) -> list[str]:
    """Returns the log of a frame that arrives on port 0 after calls of the switch's methods; lines of packet
    0.0 are without their prefix."""
    content = program if isinstance(program, bytes) else program.read_bytes()
    switch = Switch(Program(content, for_tracing=True), ports=[Port(n) for n in range(8)])
    switch.follow(0)
    for name, arguments in calls:
        getattr(switch, name)(*arguments)
    log, kept = logging.Logger("test", level), BufferingHandler(sys.maxsize)
    log.addHandler(kept)
    packet_log = PacketLog(switch, log)
    switch.inject(0, bytes.fromhex(frame))
    switch.advance_to(SECOND_PS)
    packet_log.write()
    return [record.getMessage().removeprefix("[0.0] [cxt 0] ") for record in kept.buffer]


def chosen(found: list[str], asked: str, count: int) -> list[str]:
    """Returns the lines of a log that a line of `packet_log.txt` chooses."""
    word, _, what = asked.partition(" ")
    if word == "AFTER":
        begin = len(found) - found[::-1].index(what)
        return found[begin : begin + count]
    pattern = {"ALL": "", "SWITCH": OF_SWITCH}.get(word, what)
    return [line for line in found if re.search(pattern, line)]


LOGS = re.split(r"(?m)^\[(.*)\]\n", (Path(__file__).parent / "packet_log.txt").read_text())[1:]


@pytest.mark.parametrize("text", LOGS[1::2], ids=LOGS[::2])
def test_a_packet_is_told_in_these_lines(text):
    calls, frame, expected = [], "", {}
    program, *lines = text.splitlines()
    for line in lines:
        word, _, rest = line.partition(" ")
        match word:
            case "DO":
                name, _, arguments = rest.partition("(")
                calls.append((name, ast.literal_eval(f"({arguments[:-1]},)")))
            case "FRAME":
                frame = rest
            case "ALL" | "SWITCH" | "LINES" | "AFTER":
                wanted = expected[line] = []
            case "=":
                wanted.append(rest.replace("\\n", "\n"))

    path = ROUTER if program == "router" else CONSTRUCTS / f"{program}.json"
    found = logged(path, frame, calls)
    assert {asked: chosen(found, asked, len(lines)) for asked, lines in expected.items()} == expected


def test_a_parsers_assignment_is_told_with_its_value_after_a_union_has_changed_its_member():
    program = json.loads((CONSTRUCTS / "header_union.json").read_bytes())
    [both] = [one for one in program["parsers"][0]["parse_states"] if one["name"] == "parse_both"]
    to = {"type": "field", "value": ["a.word", "value"]}
    both["parser_ops"].append({"op": "set", "parameters": [to, {"type": "hexstr", "value": "0x0007"}]})
    lines = logged(json.dumps(program).encode(), "00 03 bb 1234")
    assert "Parser set: setting field 'a.word.value' to 7" in lines


@pytest.mark.parametrize("is_followed", [True, False])
def test_an_exit_is_told_to_interrupt_only_where_something_follows(is_followed):
    program = json.loads((CONSTRUCTS / "truncate.json").read_bytes())
    ingress = next(one for one in program["pipelines"] if one["name"] == "ingress")
    action = next(action for action in program["actions"] if action["name"] == "truncate16")
    action["primitives"].append({"op": "exit", "parameters": []})
    if not is_followed:
        first = next(table for table in ingress["tables"] if table["actions"] == ["truncate16"])
        first.update(next_tables={"truncate16": None}, base_default_next=None)
    lines = logged(json.dumps(program).encode(), "00" * 40)
    assert ("Packet is marked for exit, interrupting pipeline" in lines) == is_followed


def test_a_loop_without_end_is_told_up_to_the_fault():
    program = json.loads((CONSTRUCTS / "truncate.json").read_bytes())
    first = next(action["primitives"] for action in program["actions"] if action["name"] == "truncate16")
    first += [first[0], {"op": "_jump", "parameters": [{"type": "hexstr", "value": "0x1"}]}]
    primitive, failed, dropped = logged(json.dumps(program).encode(), "00" * 40)[-3:]
    assert primitive == "Primitive (no source info)"
    assert failed.startswith("Pipeline 'ingress' failed: the packet took more steps than the limit allows")
    assert dropped == "Dropping packet: program fault"


def test_the_lines_of_statements_begin_with_their_place_in_the_source():
    lines = logged(EEON, IP)
    assert any(re.match(r"\S+\.p4\(\d+\) Primitive \S", line) for line in lines)
    assert any(
        re.match(r'\S+\.p4\(\d+\) Condition ".+" \(node_\d+\) is (true|false)', line) for line in lines
    )
    assert "Updated counter 'received' at index 6" in lines


def test_the_level_debug_leaves_out_what_bmv2_says_at_trace():
    all_lines, lines = (logged(EEON, IP, level=level) for level in (TRACE, logging.DEBUG))
    left_out = [line for line in all_lines if line not in lines]
    kinds = {re.sub(r"^\S+\(\d+\) ", "", line).split()[0] for line in left_out}
    assert {"Action", "Applying", "Bytes", "Condition", "Primitive", "Updated"} <= kinds
    assert not kinds & {"Table", "Looking", "Parser", "Extracting", "Pipeline", "Deparsing", "Transmitting"}


def frames(folder: Path, count: int) -> list[str]:
    """Returns options of a switch that reads this number of frames for port 0 from a file."""
    frame = bytes(64)
    (folder / "a_in.pcap").write_bytes(HEADER + count * record(frame))
    (folder / "b_in.pcap").write_bytes(HEADER)
    return ["-i", "0@a", "-i", "1@b", "--use-files", "0", *local_thrift(), str(PATCH), *local_grpc()]


@pytest.mark.system
def test_a_log_leaves_no_packet_out_however_fast_they_come(tmp_path):
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
def test_the_level_says_whether_packets_are_told(tmp_path, level, is_told):
    with running("--log-console", "-L", level, *frames(tmp_path, 1), cwd=tmp_path) as switch:
        switch.wait_for("end of 'a_in.pcap' after 1 frames")
        _, output = switch.end()
    assert ("[D]" in output and "Transmitting packet of size 64 out of port 1" in output) == is_told
    assert "[T]" not in output


def test_packets_of_a_program_that_is_loaded_later_are_told_in_full():
    switch = LiveSwitch(interfaces=[], cpu_port=510, follows_all=True)
    for program in (Program(PATCH.read_bytes()), Program(ROUTER.read_bytes())):
        switch.load_program(program)
        assert switch.program is program
        switch.packet_out(bytes.fromhex(IP))
        told = [step for step in take_journey(switch)["steps"] if step["step"] == "parsed"]
        assert [event["event"] for event in told[0]["events"]][:1] == ["state"]
