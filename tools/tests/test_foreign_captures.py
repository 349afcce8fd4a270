"""Captures from other sources: other link types, several sections, compressed, through a pipe."""

import bz2
import gzip
import lzma
import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd
from click.testing import CliRunner
from eeon_tools.cli.replay import replay
from eeon_tools.cli.trace import trace
from eeon_tools.errors import BrokenOffError, TraceError
from eeon_tools.trace.capture import Packet, read_packets, seekable
from made_captures import block, interface, packet, pcap, section
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

IPV4 = bytes(IP(src="10.0.1.1", dst="10.0.2.1") / TCP() / b"four")
IPV6_BYTES = bytes(IPv6(src="fd00::1", dst="fd00::2") / TCP() / b"six")
ETHER = bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02"))[:12] + b"\x08\x00" + IPV4
NO_MACS = bytes(12)


def read(folder: Path, content: bytes) -> list[Packet]:
    path = folder / "capture"
    path.write_bytes(content)
    return list(read_packets(path))


COOKED = struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800)
COOKED_V2 = struct.pack(">HHIHBB8s", 0x0800, 0, 2, 1, 0, 6, bytes(8))


@pytest.mark.parametrize(
    ("link_type", "data", "ethertype", "ip"),
    [
        (113, COOKED + IPV4, 0x0800, IPV4),
        (276, COOKED_V2 + IPV4, 0x0800, IPV4),
        (101, IPV4, 0x0800, IPV4),
        (101, IPV6_BYTES, 0x86DD, IPV6_BYTES),
        (12, IPV4, 0x0800, IPV4),
        (14, IPV6_BYTES, 0x86DD, IPV6_BYTES),
        (228, IPV4, 0x0800, IPV4),
        (229, IPV6_BYTES, 0x86DD, IPV6_BYTES),
        (0, struct.pack("<I", 2) + IPV4, 0x0800, IPV4),
        (0, struct.pack(">I", 30) + IPV6_BYTES, 0x86DD, IPV6_BYTES),
        (108, struct.pack(">I", 2) + IPV4, 0x0800, IPV4),
    ],
)
def test_packets_without_an_ethernet_header_get_one(
    tmp_path: Path, link_type: int, data: bytes, ethertype: int, ip: bytes
) -> None:
    (found,) = read(tmp_path, pcap(link_type, data))
    assert found.captured == NO_MACS + ethertype.to_bytes(2, "big") + ip
    assert found.frame_bytes == 14 + len(ip)


def test_ethernet_frames_that_bmv2_writes_as_loopback_are_ethernet_frames(tmp_path: Path) -> None:
    (found,) = read(tmp_path, pcap(0, ETHER))
    assert found.captured == ETHER


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_frame_check_sequence_that_a_link_type_announces_is_no_part_of_the_frame(
    tmp_path: Path, order: str
) -> None:
    (found,) = read(tmp_path, pcap(0x2400_0001, ETHER + b"\xde\xad\xbe\xef", order=order))
    assert found == Packet(0, len(ETHER), ETHER)


@pytest.mark.parametrize("bits_or_bytes", [4, 32])
def test_so_is_the_one_that_an_interface_announces(tmp_path: Path, bits_or_bytes: int) -> None:
    fcs = (13, bytes([bits_or_bytes]))
    (found,) = read(tmp_path, section() + interface(1, fcs) + packet(0, ETHER + b"\xde\xad\xbe\xef"))
    assert found == Packet(0, len(ETHER), ETHER)


def test_and_the_one_that_a_packet_announces(tmp_path: Path) -> None:
    flags = struct.pack("<HHIHH", 2, 4, 4 << 5, 0, 0)
    (found,) = read(tmp_path, section() + interface() + packet(0, ETHER + b"\xde\xad\xbe\xef", options=flags))
    assert found == Packet(0, len(ETHER), ETHER)


def test_each_section_has_its_own_interfaces_and_byte_order(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        section()
        + interface(1, (9, b"\x09"))
        + packet(5_000, ETHER)
        + section(">")
        + interface(101, order=">")
        + packet(7, IPV4, order=">"),
    )
    assert [one.time_ns for one in found] == [5_000, 7_000]
    assert found[1].captured == NO_MACS + b"\x08\x00" + IPV4


def test_a_section_does_not_know_the_interfaces_of_the_one_before(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"packet 2, offset .*invalid interface id 0: its section"):
        read(tmp_path, section() + interface() + packet(0, ETHER) + section() + packet(1, ETHER))


def test_an_interface_whose_times_start_at_an_offset_is_in_step_with_the_others(tmp_path: Path) -> None:
    shifted = (14, struct.pack("<q", 1_700_000_000))
    found = read(
        tmp_path,
        section()
        + interface(1, (9, b"\x06"))
        + interface(1, (9, b"\x8a"), shifted)
        + packet(1_700_000_000 * 10**6, ETHER, 0)
        + packet(512, ETHER, 1),
    )
    assert [one.time_ns for one in found] == [1_700_000_000 * 10**9, 1_700_000_000 * 10**9 + 500_000_000]


def test_blocks_that_hold_no_packets_are_passed_over_whatever_their_size(tmp_path: Path) -> None:
    keys = block(0x0A, struct.pack("<II", 0x544C534B, 2 << 20) + bytes(2 << 20))
    found = read(tmp_path, section() + keys + interface() + block(5, bytes(16)) + packet(1, ETHER) + keys)
    assert [one.time_ns for one in found] == [1_000]


def test_the_obsolete_packet_block_is_read(tmp_path: Path) -> None:
    size = len(ETHER)
    old = struct.pack("<HHIIII", 0, 0, 0, 3, size, size) + ETHER
    assert read(tmp_path, section() + interface() + block(2, old)) == [Packet(3_000, size, ETHER)]


def test_an_interface_that_is_not_read_matters_where_it_has_a_packet(tmp_path: Path) -> None:
    start = section() + interface(1) + interface(105)
    assert len(read(tmp_path, start + packet(0, ETHER))) == 1
    with pytest.raises(TraceError, match=r"link type 105; those that are read are .*Linux cooked v2 \(276\)"):
        read(tmp_path, start + packet(0, ETHER, 1))


PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, zstd.compress]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_capture_is_read_and_one_that_breaks_off_is_told(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    plain = pcap(1, *[ETHER + os.urandom(1000) for _ in range(40)])
    packed = pack(plain)
    whole = read(tmp_path, packed)
    assert len(whole) == 40
    assert read(tmp_path, packed + pack(b"")) == whole
    with pytest.raises(BrokenOffError, match="is truncated"):
        read(tmp_path, packed[:-2000])


@pytest.mark.parametrize("pack", PACKERS)
def test_a_damaged_packed_capture_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(pcap(1, *[ETHER] * 40)))
    packed[20:40] = bytes(20)
    with pytest.raises(TraceError):
        read(tmp_path, bytes(packed))


def test_a_capture_comes_out_of_a_pipe_or_of_standard_input(tmp_path: Path) -> None:
    content = gzip.compress(pcap(1, ETHER, ETHER))
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
    told = CliRunner().invoke(trace, ["info", "-", "--keep-good"], input=pcap(1, ETHER, ETHER)[:-10])
    assert told.stderr.startswith("warning: standard input: packet 2, offset")
    told = CliRunner().invoke(replay, ["-", "-c", "drop_tail"], input=content)
    assert told.stderr == (
        "Error: standard input: has no manifest that names its fabric; "
        "give --topology, a file or a name in `eeon config list`\n"
    )


@pytest.mark.parametrize(
    ("name", "pack"), [("xz", lzma.compress), ("bzip2", bz2.compress), ("lz4", lambda _: b"\x04\x22\x4d\x18")]
)
def test_a_capture_that_is_packed_otherwise_is_told_to_be(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(
        TraceError, match=f"is compressed with {name}; decompress it first, or use gzip or zstd"
    ):
        read(tmp_path, pack(pcap(1, ETHER)))


@pytest.mark.parametrize("order", ["<", ">"])
def test_two_files_one_behind_the_other_are_told_to_be_joined(tmp_path: Path, order: str) -> None:
    one = pcap(1, ETHER, order=order)
    with pytest.raises(TraceError, match=f"packet 2, offset {len(one)}: another file begins here; `mergecap"):
        read(tmp_path, one + one)
