"""`eeon explain` on frames: its text for each ending, its JSON, and its errors for wrong input."""

import functools
import json
import re
from dataclasses import replace
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from eeon_control import program as programs
from eeon_control.plan import Action, Entry, Lpm
from eeon_tools.cli.explain import explain
from eeon_tools.errors import InputError
from eeon_tools.explain import follow, journeys, of_topology, tell
from eeon_tools.explain.scene import Write
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

PROBE = Path(__file__).parents[2] / "engine/simple_switch/tests/p4/probe.json"
FABRIC = ("-t", "leaf-spine-4")


def frame(
    dst: str = "10.0.1.2",
    ecn: int = 2,
    dscp: int = 0,
    payload: int = 1000,
    ttl: int = 64,
    wrong_checksum: bool = False,
) -> str:
    """Returns a TCP segment from h1, which is at port 1 of leaf1, in hexadecimal; h2 is at port 2."""
    packet = (
        Ether(src="02:00:00:00:01:01", dst="02:01:00:00:00:01")
        / IP(src="10.0.1.1", dst=dst, tos=dscp << 2 | ecn, ttl=ttl)
        / TCP(sport=40000, dport=5000, flags="A")
        / Raw(b"\0" * payload)
    )
    raw = bytearray(bytes(packet))
    raw[24] ^= wrong_checksum
    return raw.hex()


def run(*arguments: str, stdin: str | None = None) -> Result:
    result = CliRunner().invoke(explain, list(arguments), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def text(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def why(*arguments: str) -> list[str]:
    """Returns the lines of the first branch, without indentation."""
    lines = text(*arguments).splitlines()
    assert lines[1] == "  why"
    return [line.strip() for line in takewhile(lambda line: line.startswith("    "), lines[2:])]


def renamed(program: bytes) -> bytes:
    """Returns a compiled program whose local variables have other names: those that p4c puts into `scalars`
    without the name of a struct."""
    text = program.decode()
    names = {
        part[0]
        for kind in json.loads(text)["header_types"]
        if kind["name"] == "scalars_0"
        for part in kind["fields"]
        if "." not in part[0]
    }
    assert {"aqm_depth", "left"} <= names
    for name in names:
        text = re.sub(rf'(\[\s*"scalars",\s*|\[\s*)"{re.escape(name)}"', rf'\1"other_{name}"', text)
    assert '"aqm_depth"' not in text
    return text.encode()


@pytest.mark.parametrize(
    "arguments",
    [
        (frame(), "-c", "red_ect", "--register", "occupancy_packets[2]=37"),
        (frame(ecn=0), "-c", "red_ect", "--register", "occupancy_packets[2]=40"),
        (frame(), "-c", "mark_threshold", "-c", "at_dequeue.yaml", "--register", "occupancy_bytes[2]=90000"),
        (frame(), "-c", "mark_threshold", "--register", "occupancy_bytes[2]=90000"),
    ],
)
def test_reasons_do_not_depend_on_the_names_of_local_variables(arguments, tmp_path, monkeypatch):
    (tmp_path / "at_dequeue.yaml").write_text(
        "profiles: {queue: {leaving: {buffer: 300KB, aqm: "
        "{mode: mark_threshold, threshold: 30KB, at: dequeue}}}}\n"
        "roles: {host_facing: {queue: leaving}}\n"
    )
    monkeypatch.chdir(tmp_path)
    before = why(*arguments, *FABRIC)
    shipped = programs.load()
    monkeypatch.setattr(programs, "load", lambda: replace(shipped, json=renamed(shipped.json)))
    assert why(*arguments, *FABRIC) == before


def test_planned_entries_that_the_engine_refuses_are_not_blamed_on_an_option_that_was_not_given():
    scene = of_topology("leaf-spine-4", ["drop_tail"], "leaf1", 1)
    planned = scene.fabric.entries["leaf1"]
    twice = type(planned.request)(updates=[*planned.request.updates, *planned.request.updates])
    fabric = replace(scene.fabric, entries={"leaf1": Write(planned.p4info, twice)})
    with pytest.raises(InputError) as refused:
        replace(scene, fabric=fabric).make()
    assert str(refused.value).startswith(f"{scene.source.name}: ")


def test_a_packet_for_the_controller_is_explained_as_sent_to_the_cpu(tmp_path):
    scene = of_topology("leaf-spine-4", ["drop_tail"], "leaf1", 1)
    to_cpu = Entry("ipv4_route", (Lpm("dst", 0x63000000, 8, 32),), (Action("to_cpu"),), selector=True)
    one_more = Write.planned([to_cpu], programs.load()).request.updates
    scene.fabric.entries["leaf1"].request.updates.extend(one_more)
    journey = follow(scene, bytes.fromhex(frame(dst="99.1.1.1")), 1)
    lines = list(tell(scene, journey).lines())
    assert lines[1:4] == [
        "  why",
        "    to the CPU: its route says to_cpu",
        "      sent to the CPU (port 510) at 0.000 us",
    ]


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("{0:04x}  {1}\n", ""),  # Wireshark: Copy as a Hex Dump
        ("{0:04x}  {1:<47}   {3}\n", ""),  # the same with text, tshark -x
        ("\t0x{0:04x}:  {2}\n", ""),  # tcpdump -xx
        ("{0:08x}: {2:<39}  {3}\n", ""),  # xxd
        ("{0:08x}  {4:<48}  |{3}|\n", "{0:08x}\n"),  # hexdump -C
        ("{0:06x} {1}\n", "{0:06x}\n"),  # od -Ax -tx1
        ("{0:07o} {1}\n", "{0:07o}\n"),  # od -tx1
        ("{1}:\n", ""),
    ],
)
def test_hexadecimal_from_standard_input_may_be_a_dump_with_offsets_and_text(line, last):
    data = bytes.fromhex(frame()) + b"00 ff  |12abcd"
    printed = ""
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        halves = f"{row[:8].hex(' ')}  {row[8:].hex(' ')}"
        printed += line.format(at, row.hex(" "), row.hex(" ", -2), shown, halves)
    result = run("-", *FABRIC, "-c", "drop_tail", stdin=printed + last.format(len(data)))
    assert result.output == text("0x" + data.hex(), *FABRIC, "-c", "drop_tail")


def test_a_dump_of_words_in_host_order_is_refused():
    result = run("-", *FABRIC, "-c", "drop_tail", stdin="0000000 0201 0403 0605 0807\n0000010 0a09\n")
    assert result.exit_code == 1 and "words in the host's byte order" in result.output


@functools.cache
def validator() -> Any:
    schema = json.loads(resources.files("eeon_tools").joinpath("data/explain.schema.json").read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def document(*arguments: str) -> dict[str, Any]:
    found = json.loads(text(*arguments, "-o", "json"))
    validator().validate(found)
    return found


def test_json_says_the_same_and_keeps_to_its_schema():
    found = document(frame(), *FABRIC, "-c", "mark_threshold", "--register", "occupancy_bytes[2]=31500")
    assert found["endings"][0]["verdict"] == "marked"
    assert found["endings"][0]["outcome"] == "sent"
    events = [event for step in found["steps"] for event in step.get("events", ())]
    states = [event["name"] for event in events if event["event"] == "state"]
    assert states == ["start", "parse_ethernet", "parse_ipv4", "parse_ipv4_payload", "parse_tcp"]


# Requests of probe.p4: operation, count, port, argument, priority, is_checked, checksum.
def probe(operation: int, count: int = 0, argument: int = 0) -> tuple[str, ...]:
    request = bytes([operation, count, 0, 1]) + argument.to_bytes(2, "big") + bytes(4)
    return request.hex(), "--program", str(PROBE), "--port", "0"


def test_a_packet_that_loops_is_followed_up_to_a_limit_of_steps(monkeypatch):
    monkeypatch.setattr(journeys, "_MAX_STEPS", 500)
    lines = text(*probe(3, count=255)).splitlines()
    assert lines[-1].strip() == "the record of steps is full; later steps are not shown"
    assert lines[2].strip() == "still inside at 71.000 us, when the explanation ends"


def test_a_frame_that_is_too_long_is_refused():
    result = run("00" * 65_536, "--port", "1")
    assert result.exit_code == 1 and "are more than the longest frame, 65535" in result.output


def test_a_register_of_thousands_of_digits_is_refused():
    result = run("00", "--port", "1", "--register", f"r[{'9' * 5000}]=1")
    assert result.exit_code == 1 and "write name[index]=value" in result.output


def test_a_program_with_a_byte_order_mark_is_run(tmp_path):
    path = tmp_path / "program.json"
    path.write_bytes(b"\xef\xbb\xbf" + PROBE.read_bytes())
    assert run(frame(), "--port", "1", "--program", str(path)).exit_code == 0


def test_a_program_with_a_number_that_python_does_not_read_is_refused(tmp_path):
    path = tmp_path / "program.json"
    path.write_text(PROBE.read_text().replace("{", '{"_more": ' + "9" * 5000 + ",", 1))
    refused = run(frame(), "--port", "1", "--program", str(path))
    assert refused.exit_code == 1 and "program.json: cannot be explained: " in refused.output


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([0, 1, 2, 510]))
def test_any_frame_is_explained(data, port):
    result = run("-", "--port", str(port), stdin=data.hex() or "00")
    assert result.exit_code == 0, result.output
    assert "why" in result.output


@settings(max_examples=30, deadline=None)
@given(st.binary(min_size=10, max_size=60))
def test_any_request_to_another_program_is_explained_and_keeps_to_the_schema(data):
    # Recirculating 255 times takes long; the count is the second byte.
    request = data[:1] + bytes([data[1] % 8]) + data[2:]
    found = json.loads(text(request.hex(), "--program", str(PROBE), "--port", "0", "-o", "json"))
    validator().validate(found)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered_without_a_traceback(given_text):
    assert run("-", "--port", "1", stdin=given_text).exit_code in (0, 1)
    assert run("--", given_text, "--port", "1").exit_code in (0, 1, 2)
