"""Whole traces: the same seed gives the same bytes, the manifest agrees with the file, memory is bounded."""

import errno
from pathlib import Path

import pytest
from eeon_control import topology as topologies
from eeon_control.units import Bytes
from eeon_tools.errors import ToolsError
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture import read_packets
from eeon_tools.trace.generate import generate
from eeon_tools.trace.info import describe
from eeon_tools.trace.senders import SenderSettings
from made_jobs import INCAST, peak_kib, small_job

pytestmark = pytest.mark.system

FABRIC = topologies.load("leaf-spine-4")


def make(path: Path, seed: int, **options: object) -> manifests.Manifest:
    return generate(path, FABRIC, small_job(), SenderSettings(), seed, **options)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    paths = [tmp_path / f"{name}.pcapng" for name in "abc"]
    for path, seed in zip(paths, (5, 5, 6), strict=True):
        make(path, seed)
    a, b, c = (path.read_bytes() for path in paths)
    assert a == b
    assert a != c


def test_the_manifest_counts_what_is_in_the_file(tmp_path):
    path = tmp_path / "t.pcap"
    written = make(path, 3)
    read = manifests.read(path)
    assert read == written
    info = describe(read_packets(path))
    assert {name: totals.packets for name, totals in info.classes.items()} == read.packets
    assert (info.bytes, info.duration_ns) == (read.frame_bytes, read.duration_ns)
    assert read.sha256 == manifests.digest(path)
    assert [host.name for host in read.hosts] == list(FABRIC.hosts)


def test_every_partition_is_fetched_once_or_read_locally(tmp_path):
    job = small_job(maps=6, split_bytes=40_000)
    manifest = generate(tmp_path / "t.pcap", FABRIC, job, SenderSettings(), 2)
    # Each host has one of the four reducers, and thus a quarter of each map that it ran.
    assert manifest.connections == 6 * 3
    assert describe(read_packets(tmp_path / "t.pcap")).payload_bytes == 6 * 3 * (10_000 + 280)


def test_whole_frames_have_the_same_times_and_true_lengths(tmp_path):
    make(tmp_path / "cut.pcap", 3)
    make(tmp_path / "full.pcap", 3, whole_frames=True)
    pairs = zip(read_packets(tmp_path / "cut.pcap"), read_packets(tmp_path / "full.pcap"), strict=True)
    for cut, full in pairs:
        assert (cut.time_ns, cut.frame_bytes) == (full.time_ns, full.frame_bytes)
        assert full.captured == cut.captured.ljust(cut.frame_bytes, b"\0")


def test_a_trace_for_which_the_disk_has_no_room_leaves_nothing(tmp_path, monkeypatch):
    def full(path: Path) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("eeon_tools.trace.generate.CaptureWriter", full)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "t.pcap", 3)
    assert list(tmp_path.iterdir()) == []


def test_a_trace_whose_buffers_lose_something_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("eeon_tools.trace.senders.BUFFER_BYTES", Bytes(30_000))
    with pytest.raises(ToolsError, match="packets did not fit the buffer"):
        generate(tmp_path / "t.pcap", FABRIC, INCAST, SenderSettings(), 1)
    assert list(tmp_path.iterdir()) == []


_PEAK_OF_A_TRACE = """
import sys
from pathlib import Path
from eeon_control import topology
from eeon_tools.trace import generate, info, mapreduce, senders
from eeon_tools.trace.capture import read_packets
path, maps = Path(sys.argv[1]), int(sys.argv[2])
job = mapreduce.Shuffle(
    maps=maps, reducers=8, split_bytes=1_000_000, startup_ns=2_000_000, heartbeat_ns=3_000_000
)
generate.generate(path, topology.load("leaf-spine-4"), job, senders.SenderSettings(), 1)
print(info.describe(read_packets(path)).packets)
"""


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_length_of_a_trace(tmp_path):
    def packets_and_peak_kib(maps: int) -> tuple[int, int]:
        peak, printed = peak_kib(_PEAK_OF_A_TRACE, tmp_path / f"{maps}.pcap", maps)
        return int(printed), peak

    short_packets, short_kib = packets_and_peak_kib(100)
    long_packets, long_kib = packets_and_peak_kib(1000)
    assert long_packets > 8 * short_packets > 500_000
    assert long_kib < short_kib + 30_000
