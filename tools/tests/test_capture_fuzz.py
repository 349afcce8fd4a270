"""Captures of any bytes: the result is packets, or one error with its position; never another exception, and
no more memory than a packet may need. engine/fuzz fuzzes the engine's own reader of pcap files."""

import tracemalloc
from pathlib import Path

import pytest
from eeon_tools.errors import TraceError
from eeon_tools.trace.capture import read_packets
from eeon_tools.trace.savefiles import MAX_FRAME_BYTES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_captures import capture

PEAK_BYTES = 4 << 20
"""An accepted block has up to 1 MiB, and scapy copies it."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Returns a complete file of each format."""
    folder = tmp_path_factory.mktemp("captures")
    files = {}
    for suffix in ("pcap", "pcapng"):
        packets = ((at * 1_000_000_007, size, bytes(min(size, 64))) for at, size in enumerate((14, 60, 1514)))
        files[suffix] = capture(folder / f"whole.{suffix}", packets).read_bytes()
    return files


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "damaged.pcap"


def read_or_refuse(path: Path, content: bytes) -> int:
    """Reads a file of this content to its end or its error; returns the number of packets before it."""
    path.write_bytes(content)
    packets = 0
    tracemalloc.start()
    try:
        for packet in read_packets(path):
            assert len(packet.captured) <= packet.frame_bytes <= MAX_FRAME_BYTES
            assert packet.time_ns >= 0
            packets += 1
    except TraceError as error:
        assert str(path) in str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < PEAK_BYTES
    assert packets <= len(content)
    return packets


def test_the_whole_files_hold_three_packets(captures: dict[str, bytes], path: Path) -> None:
    assert [read_or_refuse(path, content) for content in captures.values()] == [3, 3]


HEADERS = [
    b"",
    bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"),
    bytes.fromhex("a1b23c4d000200040000000000000000ffffffff00000001"),
    bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"),
    bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"
                  "0100000014000000010000000000000014000000"),
]  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    start=st.sampled_from([*HEADERS, "pcap", "pcapng"]),
    repeat=st.integers(1, 3),
    rest=st.binary(max_size=300),
    changes=st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=4)), max_size=4),
    cut=st.integers(0, 100),
)
@example(start=HEADERS[3], repeat=1, rest=bytes.fromhex("01000000ffffffff"), changes=[], cut=0)
def test_any_bytes_and_damaged_captures_are_packets_or_a_trace_error(
    captures: dict[str, bytes],
    path: Path,
    start: bytes | str,
    repeat: int,
    rest: bytes,
    changes: list[tuple[int, bytes]],
    cut: int,
) -> None:
    content = bytearray((captures[start] if isinstance(start, str) else start) * repeat + rest)
    for at, new in changes:
        content[at : at + len(new)] = new
    read_or_refuse(path, bytes(content[: max(0, len(content) - cut)]))
