"""`eeon trace` on the command line: the files that it writes, its output and its errors."""

import errno
import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from eeon_tools.cli.support import reports_errors
from eeon_tools.cli.trace import trace
from eeon_tools.trace.frames import internet_checksum
from made_captures import capture
from scapy.layers.inet import IP, TCP, UDP, IPOption, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import PcapReader, wrpcap

pytestmark = pytest.mark.system


def eeon_trace(*words: str | Path) -> Result:
    return CliRunner().invoke(trace, [str(word) for word in words])


SMALL = ("--maps", "4", "--split", "100KB", "--startup", "1ms", "--heartbeat", "1ms")


def test_shuffle_writes_trace_and_manifest_into_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.pcapng"
    done = eeon_trace("shuffle", "-o", path, *SMALL)
    assert done.exit_code == 0, done.output
    assert path.exists()
    manifest = json.loads((tmp_path / "new" / "t.pcapng.manifest.json").read_text())
    assert manifest["generator"]["job"]["maps"] == 4
    assert manifest["topology"] == "leaf-spine-4"


def test_coflow_without_a_file_takes_the_sample(tmp_path: Path) -> None:
    done = eeon_trace("coflow", "-o", tmp_path / "t.pcap", "--scale", "0.001", "--range", "1-3")
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "t.pcap.manifest.json").read_text())
    assert manifest["generator"]["source"] == "coflow-sample.txt"
    assert manifest["generator"]["coflows"] == {"first": 1, "last": 3}


def test_info_prints_tables_or_json(tmp_path: Path) -> None:
    path = tmp_path / "t.pcap"
    eeon_trace("shuffle", "-o", path, *SMALL)
    shown = eeon_trace("info", path)
    assert shown.exit_code == 0
    assert "made by `eeon trace shuffle` for leaf-spine-4, seed 1" in shown.output
    document = json.loads(eeon_trace("info", path, "--json").output)
    assert document["classes"]["syn"]["packets"] == document["classes"]["syn_ack"]["packets"] > 0


@pytest.mark.parametrize("family", [[], ["--ipv6"]])
def test_the_flows_of_a_shuffle_are_what_its_reducers_fetch(tmp_path: Path, family: list[str]) -> None:
    path, listed = tmp_path / "t.pcap", tmp_path / "new" / "flows.csv"
    eeon_trace("shuffle", "-o", path, *SMALL, *family)
    done = eeon_trace("flows", path, "-o", listed)
    assert done.exit_code == 0, done.output
    head, *lines = listed.read_text().splitlines()
    assert head == "source,destination,bytes,start"
    rows = [line.split(",") for line in lines]
    manifest = json.loads((tmp_path / "t.pcap.manifest.json").read_text())
    payload = json.loads(eeon_trace("info", path, "--json").output)["payload_bytes"]
    # A fetch is a request and a response over its own connection; nothing is retransmitted.
    assert len(rows) in (manifest["connections"], 2 * manifest["connections"])
    assert sum(int(row[2]) for row in rows) == payload
    assert f"{len(rows)} flows, {payload:,} bytes" in done.output
    starts = [int(row[3].removesuffix("ns")) for row in rows]
    assert starts == sorted(starts) and starts[0] > 0
    assert all(row[0] != row[1] for row in rows)


STATIONS = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


def segment(seconds: float, sequence: int, payload: int, flags: str = "A", reverse: bool = False) -> Packet:
    """Returns a segment from h1's port 1 to h3's port 2, or back."""
    ends = [("10.0.1.1", 1), ("10.0.2.1", 2)]
    (source, sport), (destination, dport) = ends[::-1] if reverse else ends
    tcp = TCP(sport=sport, dport=dport, seq=sequence, flags=flags)
    made = STATIONS / IP(src=source, dst=destination) / tcp / bytes(payload)
    made.time = 100 + seconds
    return made


def listed_flows(folder: Path, packets: list[Packet], *words: str) -> list[str]:
    capture, listed = folder / "c.pcap", folder / "flows.csv"
    wrpcap(str(capture), packets)
    done = eeon_trace("flows", capture, "-o", listed, *words)
    assert done.exit_code == 0, done.output
    return listed.read_text().splitlines()[1:]


def test_bytes_of_a_flow_count_once_also_where_the_sequence_number_wraps(tmp_path: Path) -> None:
    first = 2**32 - 1000
    packets = [
        segment(0, first - 1, 0, "S"),
        segment(0.001, first, 600),
        segment(0.002, (first + 1200) % 2**32, 600),  # The data before it was lost.
        segment(0.003, first + 600, 600),
        segment(0.004, (first + 1500) % 2**32, 700),  # 300 of them are new.
        segment(0.005, 77, 50, reverse=True),
    ]
    assert listed_flows(tmp_path, packets) == ["h1,h3,2200,1000000ns", "h3,h1,50,5000000ns"]


def test_a_capture_that_begins_with_packets_in_another_order_loses_no_byte(tmp_path: Path) -> None:
    first = 2**32 - 1000
    starts = (3000, 1000, 2000, 0, 1000)
    packets = [segment(number, (first + start) % 2**32, 1000, "A") for number, start in enumerate(starts)]
    assert listed_flows(tmp_path, packets) == ["h1,h3,4000,0ns"]


def test_what_a_flow_of_more_than_2_gb_sends_again_is_not_taken_for_what_it_sent_before(
    tmp_path: Path,
) -> None:
    starts = (0, 1_500_000_000, 3_000_000_000, 2_900_000_000)
    packets = [segment(number, start, 1000, "A") for number, start in enumerate(starts)]
    assert listed_flows(tmp_path, packets) == ["h1,h3,3000001000,0ns"]


def test_a_connection_that_begins_anew_or_rests_for_longer_than_the_gap_is_another_flow(
    tmp_path: Path,
) -> None:
    packets = [
        segment(0, 3_000_000_000, 0, "S"),  # Without an answer.
        segment(0.2, 9, 0, "S"),
        segment(0.3, 9, 0, "S"),
        segment(0.5, 10, 100),
        segment(1.0, 110, 100),
        segment(1.6, 210, 100),
        segment(3.0, 5_000, 0, "S"),
        segment(3.1, 5_001, 40),
    ]
    whole = ["h1,h3,300,500000000ns", "h1,h3,40,3100000000ns"]
    assert listed_flows(tmp_path, packets) == whole
    parts = ["h1,h3,200,500000000ns", "h1,h3,100,1600000000ns", whole[1]]
    assert listed_flows(tmp_path, packets, "--gap", "550ms") == parts


@pytest.mark.parametrize("end", ["FA", "R"])
def test_what_a_connection_sends_behind_its_end_is_another_flow_though_no_syn_was_captured(
    tmp_path: Path, end: str
) -> None:
    packets = [
        segment(0, 1_000, 100),
        segment(0.1, 1_200, 0, end),
        segment(0.2, 1_100, 100),  # Overtaken by the end, or sent again behind it.
        segment(0.3, 500_000_000, 40),
        segment(0.4, 500_000_040, 0, end),
        segment(0.5, 99, 0, "S"),
        segment(0.6, 100, 7),
        segment(0.7, 107, 0, end),
        segment(0.8, 99, 0, "S"),  # As simulators number.
        segment(0.9, 100, 7),
    ]
    flows = [line.split(",")[2] for line in listed_flows(tmp_path, packets)]
    assert flows == ["200", "40", "7", "7"]


def test_connections_of_two_addresses_that_are_one_host_are_two_flows(tmp_path: Path) -> None:
    packets = []
    for number in range(6):
        packets.append(segment(number, 900_000_000 * (number % 2) + 100 * (number // 2), 100))
        packets[-1][IP].src = f"10.20.0.{1 + number % 2}"
    listed = listed_flows(tmp_path, packets, "--map", "10.20.0.0/16=h1")
    assert listed == ["h1,h3,300,0ns", "h1,h3,300,1000000000ns"]


def test_tcp_behind_ipv6_extension_headers_is_in_a_flow(tmp_path: Path) -> None:
    packets = []
    for number in range(3):
        network = IPv6(src="fd00:0:0:1::1", dst="fd00:0:0:2::1") / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt()
        packets.append(STATIONS / network / TCP(sport=1, dport=2, seq=100 * number, flags="A") / bytes(100))
        packets[-1].time = 100 + number
    assert listed_flows(tmp_path, packets) == ["h1,h3,300,0ns"]
    info = json.loads(eeon_trace("info", tmp_path / "c.pcap", "--json").stdout)
    assert (
        info["payload_bytes"] == 300 and info["classes"]["other"]["packets"] == 3
    )  # The class in the switches' counts.


def test_a_capture_without_tcp_has_no_flows_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    udp = STATIONS / IP(src="10.0.1.1", dst="10.0.2.1") / UDP(dport=7) / bytes(10)
    wrpcap(str(tmp_path / "c.pcap"), [udp])
    done = eeon_trace("flows", tmp_path / "c.pcap", "-o", tmp_path / "flows.csv")
    assert done.exit_code == 1 and "has no TCP connection with payload" in done.output
    assert not (tmp_path / "flows.csv").exists()
    away = STATIONS / IP(src="10.0.1.1", dst="192.0.2.1") / TCP(seq=1) / bytes(10)
    udp.time = away.time = 99
    wrpcap(str(tmp_path / "c.pcap"), [udp, away, segment(0, 1, 10)])
    done = eeon_trace("flows", tmp_path / "c.pcap", "-o", tmp_path / "flows.csv")
    assert done.exit_code == 0, done.output
    assert "because they are not TCP: 1" in done.output and "are not for a host: 1" in done.output


def test_fragments_of_tcp_are_told_as_what_they_are(tmp_path: Path) -> None:
    whole = IP(src="10.0.1.1", dst="10.0.2.1") / TCP(seq=1, flags="A") / bytes(4000)
    wrpcap(str(tmp_path / "c.pcap"), [STATIONS / part for part in fragment(whole, 1480)])
    done = eeon_trace("flows", tmp_path / "c.pcap", "-o", tmp_path / "flows.csv")
    assert "1 flow, 1,460 bytes" in done.output and "not TCP" not in done.output
    assert "packets left out because they are TCP fragments without the TCP header: 2" in done.output
    told = eeon_trace("info", tmp_path / "c.pcap").output
    assert "1,460 bytes of TCP payload" in told and "without the TCP header, which count as other: 2;" in told


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_an_output_that_cannot_be_written_is_left_to_the_command_group(number: int) -> None:
    @reports_errors
    def writes() -> None:
        raise OSError(number, "said")

    with pytest.raises(OSError, match="said"):
        writes()


@pytest.mark.parametrize("broken", [{"ihl": 2}, {"version": 7}])
def test_what_is_no_ipv4_has_no_tcp(tmp_path: Path, broken: dict[str, int]) -> None:
    frame = STATIONS / IP(src="10.0.1.1", dst="10.0.2.1", **broken) / TCP(seq=1, flags="A") / bytes(100)
    wrpcap(str(tmp_path / "c.pcap"), [frame])
    assert json.loads(eeon_trace("info", tmp_path / "c.pcap", "--json").stdout)["payload_bytes"] == 0
    done = eeon_trace("flows", tmp_path / "c.pcap", "-o", tmp_path / "flows.csv")
    assert done.exit_code == 1 and "has no TCP connection with payload" in done.output


SIX = STATIONS / IPv6(src="fd00::1", dst="fd00::2") / TCP(flags="A")
OPTIONS = STATIONS / IP(src="10.0.1.1", dst="10.0.2.1", options=[IPOption(b"\x94\x04\0\0")]) / UDP()


@pytest.mark.parametrize(
    ("headers", "keep", "cut"),
    [
        *((SIX, keep, 1) for keep in (12, 15, 20, 53, 67)),
        *((SIX, keep, 0) for keep in (68, 174)),
        *((OPTIONS, keep, int(keep < 38)) for keep in (37, 38)),
    ],
)
def test_info_counts_frames_that_are_cut_before_their_class_is_known(
    tmp_path: Path, headers: Packet, keep: int, cut: int
) -> None:
    frame = bytes(headers / bytes(100))
    capture(tmp_path / "c.pcap", [(0, len(frame), frame[:keep])])
    done = eeon_trace("info", tmp_path / "c.pcap")
    assert done.exit_code == 0, done.output
    assert ("frames cut within their headers, which count as other: 1;" in done.output) == bool(cut)
    assert json.loads(eeon_trace("info", tmp_path / "c.pcap", "--json").stdout)["cut"] == cut


@pytest.mark.parametrize("family", [[], ["--ipv6"]])
def test_connections_take_dscps_in_turn_and_both_directions_have_the_same(
    tmp_path: Path, family: list[str]
) -> None:
    path = tmp_path / "t.pcap"
    done = eeon_trace("shuffle", "-o", path, *SMALL, "--full", *family, "--dscp", "0", "--dscp", "46")
    assert done.exit_code == 0, done.output
    connections: dict[tuple[str, ...], set[int]] = {}
    for packet in PcapReader(str(path)):
        ip = packet[IPv6 if family else IP]
        key = tuple(sorted([f"{ip.src} {packet[TCP].sport}", f"{ip.dst} {packet[TCP].dport}"]))
        connections.setdefault(key, set()).add((ip.tc if family else ip.tos) >> 2)
        assert internet_checksum(bytes(ip)[:20]) == 0 or family
    assert all(len(dscps) == 1 for dscps in connections.values())
    taken = Counter(dscps.pop() for dscps in connections.values())
    assert taken[0] - taken[46] == len(connections) % 2
    shown = json.loads(eeon_trace("info", path, "--json").output)
    assert list(shown["dscp"]) == ["0", "46"]
    assert sum(totals["packets"] for totals in shown["dscp"].values()) == shown["packets"]
    assert "DSCP" in eeon_trace("info", path).output


def test_the_manifest_and_info_agree_on_how_long_a_trace_lasts(tmp_path: Path) -> None:
    path = tmp_path / "t.pcap"
    eeon_trace("shuffle", "-o", path, *SMALL)
    manifest = json.loads((tmp_path / "t.pcap.manifest.json").read_text())
    assert json.loads(eeon_trace("info", path, "--json").output)["duration_ns"] == manifest["duration_ns"] > 0
