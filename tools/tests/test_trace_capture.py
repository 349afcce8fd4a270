"""Captures: both formats keep everything; malformed files cause an error with its position."""

import gzip
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from eeon_tools.cli.replay import replay
from eeon_tools.cli.trace import trace
from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace.capture import read_packets, seekable
from eeon_tools.trace.savefiles import Packet
from made_captures import capture, pcap
from scapy.utils import RawPcapNgReader, RawPcapReader

PACKETS = [
    Packet(0, 1514, b"\x02" * 54),
    Packet(1_234_567_891, 60, b"\x03" * 54),
    Packet(5_000_000_000_001, 66, b"\x04" * 66),
]


def write(path: Path) -> Path:
    return capture(path, (packet[:3] for packet in PACKETS))


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_what_was_written_is_read_back_to_the_nanosecond(tmp_path: Path, suffix: str) -> None:
    assert list(read_packets(write(tmp_path / f"t{suffix}"))) == PACKETS


def test_scapy_reads_the_same_lengths_and_times(tmp_path: Path) -> None:
    with RawPcapReader(str(write(tmp_path / "t.pcap"))) as reader:
        read = [(meta.sec * 10**9 + meta.usec, meta.wirelen, data) for data, meta in reader]
    with RawPcapNgReader(str(write(tmp_path / "t.pcapng"))) as reader:
        records = list(reader)
    assert {meta.tsresol for _, meta in records} == {10**9}
    again = [(meta.tshigh << 32 | meta.tslow, meta.wirelen, data) for data, meta in records]
    assert read == again == [packet[:3] for packet in PACKETS]


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_every_truncation_is_refused_or_ends_between_packets_and_what_is_whole_can_be_kept(
    tmp_path: Path, suffix: str
) -> None:
    whole = write(tmp_path / f"whole{suffix}").read_bytes()
    cut = tmp_path / f"cut{suffix}"
    clean_ends = 0
    for length in range(1, len(whole)):
        cut.write_bytes(whole[:length])
        told: list[BrokenOffError] = []
        packets = list(read_packets(cut, told.append))
        assert packets == PACKETS[: len(packets)]
        clean_ends += not told
        for error in told:
            assert str(error).startswith(f"{cut}: packet {len(packets) + 1}, offset")
            with pytest.raises(BrokenOffError):
                list(read_packets(cut))
    # After the header(s) and after each packet but the last; pcapng may also end after its section header.
    assert clean_ends == (3 if suffix == ".pcap" else 4)
    if suffix == ".pcapng":
        cut.write_bytes(whole[:-10] + b"\xff" * 10)
        with pytest.raises(TraceError, match="packet 3, offset"):  # damaged: nothing is kept
            list(read_packets(cut, told.append))


def test_a_capture_comes_out_of_a_pipe_or_of_standard_input(tmp_path: Path) -> None:
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
