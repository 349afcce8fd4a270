"""`eeon explain --program` with entries from a file: the tutorials' JSON, or a P4Runtime WriteRequest."""

import json
from pathlib import Path
from typing import Any

import pytest
import test_explain
from click.testing import Result

PROGRAMS = Path(__file__).parents[2] / "engine/python/tests/programs"
EVERYTHING = PROGRAMS / "everything.json"
P4INFO = PROGRAMS / "everything.p4info.txtpb"
TABLE = "EverythingIngress.exact_table"


def frame(key: int, ether_type: int = 0x1234) -> str:
    """Returns a frame of the program: Ethernet, and four bytes of key."""
    return f"020000000001020000000002{ether_type:04x}{key:08x}"


def run(frame: str, *arguments: str) -> Result:
    return test_explain.run(frame, "--program", str(EVERYTHING), "--port", "0", *arguments)


def with_entries(tmp_path: Path, entries: object, key: int, ether_type: int = 0x1234) -> Result:
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(entries))
    return run(frame(key, ether_type), "--p4info", str(P4INFO), "--entries", str(path))


def table(name: str, match: dict[str, Any], port: int, **more: Any) -> dict[str, Any]:
    return {
        "table": f"EverythingIngress.{name}",
        "match": match,
        "action_name": "EverythingIngress.forward",
        "action_params": {"port": port},
        **more,
    }


TUTORIAL = {
    "target": "bmv2",
    "p4info": "build/everything.p4.p4info.txtpb",
    "table_entries": [
        table("exact_table", {"value": 9}, 1),
        table("exact_table", {"value": ["0x64"]}, 2),
        table("lpm_table", {"value": ["10.0.1.0", 24]}, 3),
        table("ternary_table", {"value": ["0xab00", "0xff00"], "type": 0x1234}, 4, priority=7),
        table("range_table", {"value": [200, 210], "type": "0x88b5"}, 5, priority=1),
        {"table": "EverythingIngress.settings", "default_action": True, "action_name": "NoAction"},
    ],
    "multicast_group_entries": [
        {"multicast_group_id": 1, "replicas": [{"egress_port": 6, "instance": 1}, {"egress_port": 7}]}
    ],
    "clone_session_entries": [{"clone_session_id": 5, "replicas": [{"egress_port": 8, "instance": 1}]}],
}


@pytest.mark.parametrize(
    ("key", "ether_type", "port"),
    [(9, 1, 1), (100, 1, 2), (0x0A000105, 1, 3), (0xAB77, 0x1234, 4), (205, 0x88B5, 5)],
)
def test_entries_of_every_match_kind_of_a_tutorials_file_are_hit(
    tmp_path: Path, key: int, ether_type: int, port: int
) -> None:
    assert f"sent on port {port} at" in with_entries(tmp_path, TUTORIAL, key, ether_type).output


def test_multicast_groups_and_clone_sessions_of_the_file_make_copies(tmp_path: Path) -> None:
    flood = {"action_name": "EverythingIngress.flood", "action_params": {"group": 1}}
    mirror = {"action_name": "EverythingIngress.mirror", "action_params": {"port": 2, "session": 5}}
    entries = [{"table": TABLE, "match": {"value": key}, **act} for key, act in ((1, flood), (2, mirror))]
    flooded, mirrored = (
        with_entries(tmp_path, {**TUTORIAL, "table_entries": entries}, key).output for key in (1, 2)
    )
    assert "replica of group 1, rid 1, port 6" in flooded
    assert "sent on port 6" in flooded and "sent on port 7" in flooded
    assert "sent on port 2" in mirrored and "clone of ingress, session 5" in mirrored


def test_a_write_request_in_text_format_is_written_with_insert_where_it_says_no_type(tmp_path: Path) -> None:
    ids = {name: number for number, name in _ids()}
    path = tmp_path / "entries.txtpb"
    path.write_text(
        f"updates {{ entity {{ table_entry {{ table_id: {ids[TABLE]}"
        '  match { field_id: 1 exact { value: "\\x09" } }'
        f"  action {{ action {{ action_id: {ids['EverythingIngress.forward']}"
        '    params { param_id: 1 value: "\\x03" } } } } } }'
    )
    assert "sent on port 3" in run(frame(9), "--p4info", str(P4INFO), "--entries", str(path)).output


def _ids() -> list[tuple[int, str]]:
    from eeon_tools.explain.runtime_file import read_p4info

    info = read_p4info(P4INFO)
    return [(item.preamble.id, item.preamble.name) for item in [*info.tables, *info.actions]]


def test_a_file_with_a_byte_order_mark_a_comment_and_a_prefix_as_text_is_read(tmp_path: Path) -> None:
    entries = {"_comment": "h1", "table_entries": [table("lpm_table", {"value": "10.0.1.0/24"}, 3)]}
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(entries), encoding="utf-8-sig")
    p4info = tmp_path / "p4info.txtpb"
    p4info.write_text(P4INFO.read_text(encoding="utf-8"), encoding="utf-8-sig")
    result = run(frame(0x0A000105), "--p4info", str(p4info), "--entries", str(path))
    assert "sent on port 3 at" in result.output


def test_a_key_that_a_file_has_twice_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(TUTORIAL)[:-1] + ', "table_entries": []}')
    result = run(frame(1), "--p4info", str(P4INFO), "--entries", str(path))
    assert result.exit_code == 1
    assert "'table_entries' is given twice" in result.output


def test_entries_need_a_p4info_of_this_program_and_a_program(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps(TUTORIAL))
    assert "needs --p4info" in run(frame(1), "--entries", str(path)).output
    other = PROGRAMS / "resources.p4info.txtpb"
    assert run(frame(1), "--p4info", str(other), "--entries", str(path)).exit_code == 1
    refused = run(frame(1), "--p4info", str(path), "--entries", str(path)).output
    assert "is not P4Info in text format" in refused and "--p4runtime-files FILE.txtpb writes it" in refused
    assert "cannot be read" in run(frame(1), "--p4info", "none", "--entries", str(path)).output
    in_a_fabric = (*test_explain.FABRIC, "-c", "drop_tail", "--port", "1")
    fabric = test_explain.run(frame(1), *in_a_fabric, "--entries", str(path))
    assert "is for --program" in fabric.output
