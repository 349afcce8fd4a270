"""`eeon trace` as somebody types it: what it writes, prints and refuses."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from eeon_tools.cli.trace import trace
from eeon_tools.trace.frames import internet_checksum
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.utils import PcapReader


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
    assert manifest["generator"]["coflows"]["taken"] == 3


def test_info_prints_tables_or_json(tmp_path: Path) -> None:
    path = tmp_path / "t.pcap"
    eeon_trace("shuffle", "-o", path, *SMALL)
    shown = eeon_trace("info", path)
    assert shown.exit_code == 0
    assert "made by `eeon trace shuffle` for leaf-spine-4, seed 1" in shown.output
    document = json.loads(eeon_trace("info", path, "--json").output)
    assert document["classes"]["syn"]["packets"] == document["classes"]["syn_ack"]["packets"] > 0


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("shuffle", "-o", "t.cap"), "suffix '.cap'"),
        (("shuffle", "-o", "t.pcap", "--split", "64"), "has no unit"),
        (("shuffle", "-o", "t.pcap", "--dscp", "64"), "64 is not in the range 0<=x<=63"),
        (("shuffle", "-o", "t.pcap", "--window", "3us"), "it is one of a time"),
        (("shuffle", "-o", "t.pcap", "--topology", "torus-9"), "torus-9: no such file"),
        (("shuffle", "-o", "t.pcap", "--max-packets", "10", *SMALL), "grew beyond 10 packets"),
        (("shuffle", "-o", "t.cap"), "t.cap: file name"),
        (("shuffle", "-o", "t.pcap", "--output-ratio", "nan"), "nan is not a number"),
        (("shuffle", "-o", "t.pcap", "--noise", "nan"), "nan is not a number"),
        (("shuffle", "-o", "t.pcap", "--heartbeat", "1ns"), "heartbeats, more than 10000000"),
        (("shuffle", "-o", "t.pcap", *SMALL, "--startup", "9000000s"), "heartbeats, more than"),
        (("coflow", "-o", "t.pcap", "--scale", "nan"), "nan is not a number"),
        (("coflow", "-o", "t.pcap", "--time-scale", "1e-300"), "not in the range"),
        (("coflow", "-o", "t.pcap", "--range", "5-2"), "'5-2' is not FIRST-LAST"),
        (("coflow", "-o", "t.pcap", "--range", "40-"), "no coflow number 40"),
        (("info", __file__), "neither pcap nor pcapng"),
    ],
)
def test_wrong_input_ends_in_one_message_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = eeon_trace(*words)
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_transfers_that_all_stay_on_their_host_make_no_trace(tmp_path: Path) -> None:
    (tmp_path / "local.txt").write_text("3 1\n1 0 1 1 1 1:1\n", encoding="ascii")
    done = eeon_trace("coflow", tmp_path / "local.txt", "-o", tmp_path / "t.pcap")
    assert done.exit_code == 1
    assert "every transfer stays on the host" in done.output
    assert not (tmp_path / "t.pcap").exists()


def test_a_coflow_later_than_a_capture_can_say_is_refused(tmp_path: Path) -> None:
    text = "3 2\n1 0 1 1 1 2:0.001\n2 5000000 1 1 1 2:0.001\n"
    (tmp_path / "late.txt").write_text(text, encoding="ascii")
    done = eeon_trace("coflow", tmp_path / "late.txt", "-o", tmp_path / "t.pcap", "--time-scale", "1e-6")
    assert done.exit_code == 1
    assert "would be sent 5,000,000,000 s after the start" in done.output
    assert not (tmp_path / "t.pcap").exists()


def test_the_manifest_and_info_agree_on_how_long_a_trace_lasts(tmp_path: Path) -> None:
    path = tmp_path / "t.pcap"
    eeon_trace("shuffle", "-o", path, *SMALL)
    manifest = json.loads((tmp_path / "t.pcap.manifest.json").read_text())
    assert json.loads(eeon_trace("info", path, "--json").output)["duration_ns"] == manifest["duration_ns"] > 0
