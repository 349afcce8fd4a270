"""The coflow format: what it means, how racks are mapped, and that every breach of it is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from eeon_tools.errors import CoflowError
from eeon_tools.trace.coflow import SAMPLE, Coflow, CoflowReplay, map_racks, read_coflows
from eeon_tools.trace.hosts import TraceHost


def parse(tmp_path: Path, text: str) -> list[Coflow]:
    path = tmp_path / "coflows.txt"
    path.write_text(text)
    return list(read_coflows(path)[1])


def test_a_line_is_read_as_id_arrival_mappers_reducers(tmp_path: Path) -> None:
    assert parse(tmp_path, "10 1\n3 250 2 4 9 2 1:5.0 2:0.5\n") == [
        Coflow(3, 250, (4, 9), ((1, 5.0), (2, 0.5)))
    ]


def test_a_byte_order_mark_and_the_line_ends_of_windows_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "coflows.txt"
    path.write_bytes(b"\xef\xbb\xbf10 1\r\n3 250 1 4 1 1:5.0\r\n")
    assert list(read_coflows(path)[1]) == [Coflow(3, 250, (4,), ((1, 5.0),))]


def test_the_sample_that_ships_is_valid() -> None:
    racks, coflows = read_coflows(SAMPLE)
    assert racks == 12
    assert len(list(coflows)) == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        ("12\n", "line 1: '12': the first line is"),
        ("x 3\n", "line 1: number of racks 'x'"),
        ("0 3\n", "line 1: number of racks '0'"),
        ("5 1\n1 0 1\n", "line 2: the line ends where the rack of mapper 1 should be"),
        ("5 1\n1 0 0 1 1:1\n", "line 2: number of mappers '0'"),
        ("5 1\n1 0 99999999999 1 1 1:1\n", "line 2: number of mappers '99999999999'"),
        ("5 1\n1 -5 1 1 1 1:1\n", "line 2: arrival in ms '-5'"),
        ("5 1\n1 0 1 6 1 1:1\n", "line 2, mapper 1: rack '6': a whole number from 0 to 5"),
        ("5 1\n1 0 1 1 1 7:1\n", "line 2, reducer 1: rack '7'"),
        ("5 1\n1 0 1 1 1 2-1\n", "line 2, reducer 1: '2-1' is not <rack>:<megabytes>"),
        ("5 1\n1 0 1 1 1 2:-1\n", "line 2, reducer 1: megabytes '-1'"),
        ("5 1\n1 0 1 1 1 2:0\n", "line 2, reducer 1: megabytes '0'"),
        ("5 1\n1 0 1 1 1 2:nan\n", "line 2, reducer 1: megabytes 'nan'"),
        ("5 1\n1 0 1 1 1 2:1e99\n", "line 2, reducer 1: megabytes '1e99'"),
        ("5 1\n1 0 1 1 1 2:1 3:4\n", "line 2: '3:4' and 0 more after the 1 reducers"),
        ("5 2\n1 9 1 1 1 2:1\n2 8 1 1 1 2:1\n", "line 3: arrival 8 ms is before the previous line's 9 ms"),
        ("5 1\n1 0 1 1 1 2:1\n2 0 1 1 1 2:1\n", "line 3: more coflows than the 1"),
        ("5 3\n1 0 1 1 1 2:1\n", "end of file: 1 coflows, but line 1 announces 3"),
    ],
)
def test_a_breach_names_line_value_and_rule(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CoflowError) as caught:
        parse(tmp_path, text)
    assert f"coflows.txt: {message}" in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"12 1\n\xff\xfe\n")
    with pytest.raises(CoflowError, match="0xff is not text"):
        list(read_coflows(path)[1])


def test_a_line_without_end_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_text("12 1\n" + "1 " * (1 << 20))
    with pytest.raises(CoflowError, match="line 2: longer than"):
        list(read_coflows(path)[1])


def test_racks_are_dealt_over_leaves_in_turn(hosts: list[TraceHost]) -> None:
    assert [hosts[index].leaf for index in map_racks([host.leaf for host in hosts])] == [
        "leaf1",
        "leaf2",
        "leaf1",
        "leaf2",
    ]
    assert sorted(map_racks([host.leaf for host in hosts])) == [0, 1, 2, 3]


def test_megabytes_are_shared_among_mappers_and_scaled(tmp_path: Path, hosts: list[TraceHost]) -> None:
    source = tmp_path / "one.txt"
    # Rack 1 is on leaf2, racks 0 and 2 on leaf1; the reducer's 2 MB come from both mappers in halves.
    source.write_text("5 1\n1 70 2 0 2 1 1:2.0\n")
    (coflow,) = CoflowReplay(source, 1, None, scale=0.01, time_scale=1.0).application(hosts)["coflows"]
    assert coflow["at_ps"] == 0, "time counts from the first coflow taken"
    assert coflow["transfers"] == [
        {"source": source, "destination": "h3", "bytes": 10_000} for source in ("h1", "h2")
    ]


def test_a_range_and_a_time_scale_are_applied(tmp_path: Path, hosts: list[TraceHost]) -> None:
    source = tmp_path / "three.txt"
    source.write_text("5 3\n1 0 1 0 1 1:1\n2 1000 1 0 1 1:1\n3 3000 1 0 1 1:1\n")
    coflows = CoflowReplay(source, 2, 3, scale=0.001, time_scale=100.0).application(hosts)["coflows"]
    assert [(one["name"], one["at_ps"]) for one in coflows] == [("2", 0), ("3", 20 * 10**9)]


def test_a_range_beyond_the_file_is_refused(hosts: list[TraceHost]) -> None:
    with pytest.raises(CoflowError, match="no coflow number 11: the file has 10 coflows"):
        CoflowReplay(SAMPLE, 11, None, 1.0, 1.0).application(hosts)


def test_a_broken_line_after_the_range_is_still_reported(tmp_path: Path, hosts: list[TraceHost]) -> None:
    source = tmp_path / "tail.txt"
    source.write_text("5 2\n1 0 1 0 1 1:1\n2 10 1 0 1 1:x\n")
    with pytest.raises(CoflowError, match="line 3, reducer 1"):
        CoflowReplay(source, 1, 1, 0.001, 1.0).application(hosts)
