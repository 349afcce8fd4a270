"""The differential tester: a short run with BMv2, if installed, and detection of faults in the engine."""

import json
from contextlib import closing
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from scapy.utils import checksum

from differential import bmv2
from differential.__main__ import main
from differential.campaign import configuration, run
from differential.compare import Bench, Difference, Step
from differential.failures import CaseError, read, run_steps, write
from differential.frames import Choices, Frames, Subject
from differential.nanomsg import HEADER, LENGTH, PACKET_OUT, decoded
from differential.program import load
from differential.subjects import OVER_P4RUNTIME, SUBJECTS
from differential.thrift import Call, match

pytestmark = pytest.mark.system

needs_bmv2 = pytest.mark.skipif(bmv2.why_not() is not None, reason=str(bmv2.why_not()))
needs_p4runtime = pytest.mark.skipif(
    bmv2.why_not("simple_switch_grpc") is not None, reason=str(bmv2.why_not("simple_switch_grpc"))
)
OVER_THRIFT = tuple(subject for subject in SUBJECTS if subject.p4info is None)
NAMES = {subject.name: subject for subject in SUBJECTS}

DELETE_IT = "updates { type: DELETE entity { table_entry { table_id: 44389611 } } }"


def frames_of(subject: Subject, seed: int, count: int) -> list[tuple[int, bytes]]:
    frames = Frames(Choices(load(subject.path), subject, Random(seed)))
    return [frames.frame() for _ in range(count)]


@needs_bmv2
def test_a_few_cases_of_every_program_do_the_same_on_both(tmp_path):
    lines: list[str] = []
    outcomes = run(OVER_THRIFT, 880, 20261121, tmp_path, lines.append)
    assert not lines
    assert sum(outcome.counts.cases + outcome.counts.excluded for outcome in outcomes) >= 880
    assert sum(outcome.counts.frames for outcome in outcomes) > 200


@needs_p4runtime
def test_a_few_cases_over_p4runtime_do_the_same_on_both(tmp_path):
    lines: list[str] = []
    outcomes = run(OVER_P4RUNTIME, 260, 20261123, tmp_path, lines.append)
    assert not lines
    for outcome in outcomes:
        assert outcome.counts.cases + outcome.counts.excluded >= 130
        assert outcome.counts.calls > 20
        assert outcome.counts.counters >= 8


@needs_p4runtime
def test_state_that_only_one_of_them_has_is_seen_over_p4runtime():
    insert = Call(
        "p4runtime",
        "write",
        (
            "updates { type: INSERT entity { table_entry { table_id: 44389611 action {"
            " action_profile_action_set { action_profile_actions { weight: 2 action {"
            ' action_id: 32920737 params { param_id: 1 value: "\003" } } } } } } } }',
        ),
    )
    with closing(Bench(NAMES["everything, P4Runtime"])) as bench:
        assert bench.control(insert) == ["OK"]
        bench.settle(Random(0))
        assert bench.control(insert) == ["ALREADY_EXISTS"]
        assert bench.engine.control(replace(insert, arguments=(DELETE_IT,))) == ["OK"]
        with pytest.raises(Difference, match="weight: 2") as difference:
            bench.settle(Random(0))
    assert difference.value.kind == "array"


@needs_bmv2
def test_a_frame_that_is_still_on_its_way_is_waited_for():
    with closing(Bench(NAMES["arithmetic"])) as bench:
        for number in range(50):
            bench.bmv2.send(0, bytes([number, 1, 2]))
            assert len(bench.bmv2.surplus()) == 1


def without_checksum_update(program: dict[str, Any]) -> None:
    program["checksums"] = [c for c in program["checksums"] if not c["update"]]


def with_other_priorities(program: dict[str, Any]) -> None:
    for pipeline in program["pipelines"]:
        for table in pipeline["tables"]:
            for place, entry in enumerate(reversed(table.get("entries", []))):
                entry["priority"] = place + 1


def with_shorter_counts(program: dict[str, Any]) -> None:
    for action in program["actions"]:
        action["primitives"] = [p for p in action["primitives"] if p["op"] != "count"]


@needs_bmv2
@pytest.mark.parametrize(
    ("name", "change", "kind"),
    [
        ("bm/headers", without_checksum_update, "frames"),
        ("table_kinds", with_other_priorities, "frames"),
        ("counters_meters", with_shorter_counts, "array"),
        pytest.param("everything, P4Runtime", with_shorter_counts, "array", marks=needs_p4runtime),
    ],
)
def test_an_engine_with_another_program_is_seen(name, change, kind):
    program = json.loads(NAMES[name].path.read_text())
    change(program)
    engine_json = json.dumps(program).encode()
    with closing(Bench(NAMES[name], engine_json)) as bench, pytest.raises(Difference) as difference:
        configuration(bench, Random(3), 500)
    assert difference.value.kind == kind


@needs_bmv2
def test_a_written_case_is_read_back_and_does_the_same(tmp_path):
    key = [match("exact", b"\x12\x34"), match("exact", b"\x05")]
    add = Call(
        "standard", "bm_mt_add_entry", (0, "ingress.exact_table", key, "ingress.exact_hit", [b"\x07"], {})
    )
    steps: list[Step] = [add, (1, bytes.fromhex("123405"))]
    difference = Difference("frames", (1, "123405"), {1: ["00"]}, {1: ["01"]})
    path = write(tmp_path, NAMES["table_kinds"], 1, 0, steps, difference)
    subject, again = read(path)
    assert (subject.name, again) == ("table_kinds", steps)
    assert run_steps(subject, again) is None


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"program": "nothing", "steps": []}'])
def test_a_file_that_is_no_case_is_told(tmp_path, text):
    path = tmp_path / "case.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CaseError, match=r"case\.json: no case \(.*; name a file"):
        read(path)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_same_seed_gives_the_same_frames_and_another_one_others(subject):
    first = frames_of(subject, 5, 40)
    assert first == frames_of(subject, 5, 40)
    assert first != frames_of(subject, 6, 40)
    assert all(len(frame) >= subject.least_bytes for _, frame in first)


def test_most_ipv4_headers_that_a_walk_makes_have_a_right_checksum():
    headers = [
        f[14:34] for _, f in frames_of(NAMES["eeon"], 1, 800) if f[12:15] == b"\x08\x00\x45" and len(f) > 34
    ]
    right = sum(checksum(header) == 0 for header in headers)
    assert len(headers) > 20
    assert len(headers) // 2 < right < len(headers)


def test_messages_of_the_socket_are_put_together_from_pieces():
    message = HEADER.pack(PACKET_OUT, 5, 3) + b"abc"
    stream = LENGTH.pack(1, len(message)) + message
    buffer = bytearray(stream + stream[:-1])
    assert decoded(buffer) == [(5, b"abc")]
    assert decoded(buffer) == []
    buffer += stream[-1:]
    assert decoded(buffer) == [(5, b"abc")]
    assert not buffer


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--cases -5", "--cases -5: at least 1"),
        ("--program eeon --program hashs", "--program hashs: no such program; there are eeon; eeon, held;"),
    ],
)
def test_what_cannot_be_run_is_refused(monkeypatch, capsys, words, told):
    monkeypatch.setattr("sys.argv", ["differential", *words.split()])
    monkeypatch.setattr("differential.__main__.run", lambda *_, **__: [])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert told in capsys.readouterr().err
