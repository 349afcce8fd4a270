"""Captures: both formats keep everything; any bytes are packets, or one error with its position, and take no
more memory than a packet may need. engine/fuzz fuzzes the engine's own reader of pcap files."""

import gzip
import os
import threading
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_tools.cli.replay import replay
from eeon_tools.cli.trace import trace
from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace.capture import read_packets, seekable
from eeon_tools.trace.savefiles import MAX_FRAME_BYTES, Packet
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_captures import capture, pcap
from scapy.utils import RawPcapNgReader, RawPcapReader

PACKETS = [
    Packet(0, 1514, b"\x02" * 54),
    Packet(1_234_567_891, 60, b"\x03" * 54),
    Packet(5_000_000_000_001, 66, b"\x04" * 66),
]


def write(path: Path) -> Path:
    return capture(path, (packet[:3] for packet in PACKETS))


def test_scapy_reads_the_same_lengths_and_times(tmp_path):
    with RawPcapReader(str(write(tmp_path / "t.pcap"))) as reader:
        read = [(meta.sec * 10**9 + meta.usec, meta.wirelen, data) for data, meta in reader]
    with RawPcapNgReader(str(write(tmp_path / "t.pcapng"))) as reader:
        records = list(reader)
    assert {meta.tsresol for _, meta in records} == {10**9}
    again = [(meta.tshigh << 32 | meta.tslow, meta.wirelen, data) for data, meta in records]
    assert read == again == [packet[:3] for packet in PACKETS]


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_a_file_is_read_whole_and_a_truncated_one_refused_or_what_is_whole_of_it_kept(tmp_path, suffix):
    whole = write(tmp_path / f"whole{suffix}").read_bytes()
    cut = tmp_path / f"cut{suffix}"
    clean_ends = 0
    for length in range(1, len(whole) + 1):
        cut.write_bytes(whole[:length])
        told: list[BrokenOffError] = []
        packets = list(read_packets(cut, told.append))
        assert packets == PACKETS[: len(packets)]
        clean_ends += not told
        for error in told:
            assert str(error).startswith(f"{cut}: packet {len(packets) + 1}, offset")
            with pytest.raises(BrokenOffError):
                list(read_packets(cut))
    assert packets == PACKETS
    # After the header(s) and after each packet; pcapng may also end after its section header.
    assert clean_ends == (4 if suffix == ".pcap" else 5)
    cut.write_bytes(gzip.compress(whole)[:-8])
    assert list(read_packets(cut, told.append)) == PACKETS and "compressed file is truncated" in str(told[-1])
    if suffix == ".pcapng":
        cut.write_bytes(whole[:-10] + b"\xff" * 10)
        with pytest.raises(TraceError, match="packet 3, offset"):  # damaged: nothing is kept
            list(read_packets(cut, told.append))


def test_a_capture_comes_out_of_a_pipe_or_of_standard_input(tmp_path):
    frame = bytes(60)
    content = gzip.compress(pcap(1, frame, frame))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with seekable(pipe) as file:
        assert [len(list(read_packets(file))) for _ in range(2)] == [2, 2]
    writer.join()
    assert not file.exists()
    told = CliRunner().invoke(trace, ["info", "-", "--json"], input=content)
    assert '"packets": 2' in told.stdout
    told = CliRunner().invoke(trace, ["info", "-", "--keep-good"], input=pcap(1, frame, frame)[:-10])
    assert told.stderr.startswith("warning: standard input: packet 2, offset")
    told = CliRunner().invoke(replay, ["-", "-c", "drop_tail"], input=content)
    assert told.stderr == (
        "Error: standard input: has no manifest that names its fabric; "
        "give --topology, a file or a name in `eeon config list`\n"
    )


PEAK_BYTES = 4 << 20
"""An accepted block has up to 1 MiB, and scapy copies it."""


def read_or_refuse(path: Path, content: bytes) -> None:
    """Reads a file of this content to its end or its error."""
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


HEADERS = [
    b"",
    bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"),
    bytes.fromhex("a1b23c4d000200040000000000000000ffffffff00000001"),
    bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"),
    bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000"
                  "0100000014000000010000000000000014000000"),
]  # fmt: skip


@pytest.fixture(scope="module")
def starts(tmp_path_factory) -> list[bytes]:
    """Returns the starts of files, and a whole file of each format."""
    folder = tmp_path_factory.mktemp("whole")
    return [*HEADERS, *(write(folder / name).read_bytes() for name in ("t.pcap", "t.pcapng"))]


@settings(max_examples=400, deadline=None)
@given(
    start=st.integers(0, len(HEADERS) + 1),
    repeat=st.integers(1, 3),
    rest=st.binary(max_size=300),
    changes=st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=4)), max_size=4),
    cut=st.integers(0, 100),
)
@example(start=3, repeat=1, rest=bytes.fromhex("01000000ffffffff"), changes=[], cut=0)
def test_any_bytes_and_damaged_captures_are_packets_or_a_trace_error(
    starts, tmp_path_factory, start, repeat, rest, changes, cut
):
    content = bytearray(starts[start] * repeat + rest)
    for at, new in changes:
        content[at : at + len(new)] = new
    damaged = tmp_path_factory.getbasetemp() / "damaged.pcap"
    read_or_refuse(damaged, bytes(content[: max(0, len(content) - cut)]))
