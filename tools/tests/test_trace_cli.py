"""`eeon trace` on the command line: the files that it writes, its output and its errors."""

import errno
import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import Result
from eeon_tools.cli.support import reports_errors
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.utils import PcapReader

from control_plane.tests.eeon_command import eeon

pytestmark = pytest.mark.system


def eeon_trace(*words: str | Path) -> Result:
    return eeon("trace", *map(str, words), code=0)


SMALL = ("--maps", "4", "--split", "100KB", "--startup", "1ms", "--heartbeat", "1ms")


@pytest.mark.parametrize("family", [[], ["--ipv6"]])
def test_the_flows_of_a_shuffle_are_what_its_reducers_fetch(tmp_path, family):
    path, listed = tmp_path / "t.pcap", tmp_path / "new" / "flows.csv"
    eeon_trace("shuffle", "-o", path, *SMALL, *family)
    done = eeon_trace("flows", path, "-o", listed)
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


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_an_output_that_cannot_be_written_is_left_to_the_command_group(number):
    @reports_errors
    def writes() -> None:
        raise OSError(number, "said")

    with pytest.raises(OSError, match="said"):
        writes()


@pytest.mark.parametrize("family", [[], ["--ipv6"]])
def test_connections_take_dscps_in_turn_and_both_directions_have_the_same(tmp_path, family):
    path = tmp_path / "t.pcap"
    eeon_trace("shuffle", "-o", path, *SMALL, "--full", *family, "--dscp", "0", "--dscp", "46")
    connections: dict[tuple[str, ...], set[int]] = {}
    for packet in PcapReader(str(path)):
        ip = packet[IPv6 if family else IP]
        key = tuple(sorted([f"{ip.src} {packet[TCP].sport}", f"{ip.dst} {packet[TCP].dport}"]))
        connections.setdefault(key, set()).add((ip.tc if family else ip.tos) >> 2)
    assert all(len(dscps) == 1 for dscps in connections.values())
    taken = Counter(dscps.pop() for dscps in connections.values())
    assert taken[0] - taken[46] == len(connections) % 2
    shown = json.loads(eeon_trace("info", path, "--json").output)
    assert list(shown["dscp"]) == ["0", "46"]
    assert sum(totals["packets"] for totals in shown["dscp"].values()) == shown["packets"]
