"""Captures: both formats keep everything; malformed files cause an error with its position."""

import struct
from pathlib import Path

import pytest
from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace.capture import Packet, read_packets
from eeon_tools.trace.capture_writer import CaptureWriter
from made_captures import capture
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
def test_every_truncation_is_refused_or_ends_between_packets(tmp_path: Path, suffix: str) -> None:
    whole = write(tmp_path / f"whole{suffix}").read_bytes()
    cut = tmp_path / f"cut{suffix}"
    clean_ends = 0
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        try:
            packets = list(read_packets(cut))
        except TraceError as error:
            assert str(cut) in str(error)
        else:
            assert packets == PACKETS[: len(packets)]
            clean_ends += 1
    # After the header(s) and after each packet but the last; pcapng may also end after its section header.
    assert clean_ends == (3 if suffix == ".pcap" else 4)


def test_the_error_of_a_cut_file_names_packet_and_offset(tmp_path: Path) -> None:
    path = write(tmp_path / "t.pcap")
    path.write_bytes(path.read_bytes()[: 24 + 16 + 54 + 16 + 10])
    with pytest.raises(
        TraceError, match=r"t\.pcap: packet 2, offset 110: .* 54 bytes are expected here, 10 are left"
    ):
        list(read_packets(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty", b"", "the file is empty"),
        ("text", b"hello, world, this is not a capture", "neither pcap nor pcapng"),
        ("short", bytes.fromhex("a1b2c3d4") + b"\0" * 8, "is truncated"),
        ("wifi", struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105), "link type 105"),
    ],
)
def test_what_is_no_capture_of_packets_that_are_known_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TraceError, match=message):
        list(read_packets(path))


HEADER = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (struct.pack("<IIII", 0, 0, 0xFFFFFFF0, 0xFFFFFFF0), "a block of 4294967280 bytes; the limit"),
        (struct.pack("<IIII", 0, 0, 10, 10) + b"x" * 10, "frame of 10 bytes; frames of Ethernet have 14"),
        (struct.pack("<IIII", 0, 0, 20, 19) + b"x" * 20, "20 bytes captured of a frame of 19"),
        (struct.pack("<IIII", 0, 0, 20, 600_000) + b"x" * 20, "frame of 600000 bytes"),
        (struct.pack("<IIII", 0, 10**9, 20, 20) + b"x" * 20, "the fraction of a second is"),
    ],
)
def test_impossible_records_are_refused(tmp_path: Path, record: bytes, message: str) -> None:
    path = tmp_path / "bad.pcap"
    path.write_bytes(HEADER + record)
    with pytest.raises(TraceError, match=f"packet 1, offset [0-9]+: .*{message}"):
        list(read_packets(path))


def test_a_huge_pcapng_block_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.pcapng")
    with path.open("ab") as file:
        file.write(struct.pack("<II", 6, 64 << 20))
        file.truncate(file.tell() + (64 << 20))
    with pytest.raises(TraceError, match=r"packet 4, offset .*the limit is"):
        list(read_packets(path))


def test_a_pcapng_block_with_a_wrong_second_length_is_refused_even_at_the_end(tmp_path: Path) -> None:
    path = write(tmp_path / "t.pcapng")
    content = bytearray(path.read_bytes())
    content[-4:] = struct.pack("<I", 4)
    path.write_bytes(content)
    with pytest.raises(TraceError, match="packet 3, offset"):
        list(read_packets(path))


def test_a_pcapng_packet_of_an_interface_that_was_never_described_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.pcapng")
    content = bytearray(path.read_bytes())
    first_packet = content.index(struct.pack("<I", 6), 28)
    content[first_packet + 8 : first_packet + 12] = struct.pack("<I", 9)
    path.write_bytes(content)
    with pytest.raises(TraceError, match="invalid interface id 9"):
        list(read_packets(path))


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"suffix '\.cap'"):
        CaptureWriter(tmp_path / "t.cap")


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_what_is_whole_of_a_file_that_breaks_off_can_be_kept(tmp_path: Path, suffix: str) -> None:
    whole = write(tmp_path / f"whole{suffix}").read_bytes()
    cut = tmp_path / f"cut{suffix}"
    cut.write_bytes(whole[:-10])
    told: list[BrokenOffError] = []
    assert list(read_packets(cut, told.append)) == PACKETS[:2]
    assert len(told) == 1 and "packet 3, offset" in str(told[0])
    cut.write_bytes(whole[:-10] + b"\xff" * 10)  # not cut, but damaged
    if suffix == ".pcapng":
        with pytest.raises(TraceError):
            list(read_packets(cut, told.append))
    assert len(told) == 1
