"""The coflow format: its meaning, the mapping of racks, and the error for every violation."""

import pytest
from captures import HOSTS
from eeon_tools.errors import CoflowError
from eeon_tools.trace.coflow import Coflow, CoflowReplay, read_coflows


@pytest.mark.parametrize(
    "content",
    [b"10 1\n3 250 2 4 9 2 1:5.0 2:0.5\n", b"\xef\xbb\xbf10 1\r\n3 250 2 4 9 2 1:5.0 2:0.5\r\n"],
    ids=["of Unix", "of Windows, with a byte order mark"],
)
def test_a_line_is_read_as_id_arrival_mappers_reducers(tmp_path, content):
    path = tmp_path / "coflows.txt"
    path.write_bytes(content)
    racks, coflows = read_coflows(path)
    assert (racks, list(coflows)) == (10, [Coflow(3, 250, (4, 9), ((1, 5.0), (2, 0.5)))])


@pytest.mark.parametrize(
    ("line", "problem"), [(b"\xff\xfe\n", "0xff is not text"), (b"1 " * (1 << 20), "line 2: longer than")]
)
def test_bytes_that_are_no_text_and_a_line_without_end_are_refused(tmp_path, line, problem):
    path = tmp_path / "coflows.txt"
    path.write_bytes(b"12 1\n" + line)
    with pytest.raises(CoflowError, match=problem):
        list(read_coflows(path)[1])


def test_megabytes_are_shared_among_mappers_and_scaled(tmp_path):
    source = tmp_path / "one.txt"
    # Rack 1 is on leaf2, racks 0 and 2 on leaf1; each mapper sends half of the reducer's 2 MB.
    source.write_text("5 1\n1 70 2 0 2 1 1:2.0\n")
    (coflow,) = CoflowReplay(source, 1, None, scale=0.01, time_scale=1.0).application(HOSTS)["coflows"]
    assert coflow["at_ps"] == 0, "time counts from the first coflow taken"
    assert coflow["transfers"] == [
        {"source": source, "destination": "h3", "bytes": 10_000} for source in ("h1", "h2")
    ]


def test_a_range_and_a_time_scale_are_applied(tmp_path):
    source = tmp_path / "three.txt"
    source.write_text("5 3\n1 0 1 0 1 1:1\n2 1000 1 0 1 1:1\n3 3000 1 0 1 1:1\n")
    coflows = CoflowReplay(source, 2, 3, scale=0.001, time_scale=100.0).application(HOSTS)["coflows"]
    assert [(one["name"], one["at_ps"]) for one in coflows] == [("2", 0), ("3", 20 * 10**9)]
