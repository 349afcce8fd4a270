"""p4lang's tutorials in the lab: each solution compiled by p4c, with its own topology and entries, has the
results that its README describes.

`make tutorials P4_TUTORIALS=DIR` runs them on a checkout of p4lang/tutorials; without one, or without p4c on
PATH, they are skipped.
"""

import asyncio
import os
import shutil
import struct
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import pytest
from eeon_tools.lab import Lab, parse
from eeon_tools.trace.frames import internet_checksum
from finsy import (
    P4CloneSessionEntry,
    P4PacketOut,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
    Switch,
    SwitchOptions,
)

pytestmark = pytest.mark.system

TUTORIALS = os.environ.get("P4_TUTORIALS", "")
P4C = shutil.which("p4c-bm2-ss")

if not TUTORIALS:
    pytest.skip("P4_TUTORIALS names no checkout of p4lang/tutorials", allow_module_level=True)
if P4C is None:
    pytest.skip("p4c-bm2-ss is not on PATH", allow_module_level=True)

MakeLab = Callable[..., Lab]
_PATIENCE_S = 30
_STEP_PS = 10**11
Message = TypeVar("Message")


@pytest.fixture
def exercise(tmp_path, monkeypatch) -> MakeLab:
    """Makes a lab of an exercise: copies its folder, and compiles its programs to the places that its runtime
    files name."""

    def make(name: str, topology: str = "topology.json", **options) -> Lab:
        folder = tmp_path / name
        shutil.copytree(Path(TUTORIALS) / "exercises" / name, folder)
        (folder / "build").mkdir(exist_ok=True)
        sources = {path.name: path for place in (".", "solution") for path in (folder / place).glob("*.p4")}
        for source in sources.values():
            built = folder / "build" / source.stem
            outputs = ["--p4runtime-files", f"{built}.p4.p4info.txtpb", "-o", f"{built}.json"]
            subprocess.run([P4C, "--p4v", "16", *outputs, source], check=True, capture_output=True)
        if name == "multicast":
            # The entries beside the README omit a port; completing them is the exercise.
            shutil.copy(folder / "solution/s1-runtime.json", folder / "sig-topo/s1-runtime.json")
        monkeypatch.chdir(folder)
        program = options.pop("program", name)
        return Lab(topology, f"build/{program}.json", f"build/{program}.p4.p4info.txtpb", **options)

    return make


def run(lab: Lab, line: str) -> list[dict]:
    return [task.result() for task in lab.run(*parse(line, lab.topology.hosts))]


def frame(lab: Lab, host: str, kind: int, payload: bytes) -> bytes:
    mac = bytes.fromhex(lab.topology.hosts[host].mac.replace(":", ""))
    return b"\xff" * 6 + mac + kind.to_bytes(2, "big") + payload


@pytest.mark.parametrize(
    ("name", "topology"),
    [
        ("basic", "pod-topo/topology.json"),
        ("basic", "triangle-topo/topology.json"),
        ("link_monitor", "pod-topo/topology.json"),
        ("multicast", "sig-topo/topology.json"),
    ],
)
def test_every_host_reaches_every_other(exercise, name, topology):
    with exercise(name, topology) as lab:
        assert all(result["received"] == 1 for result in run(lab, "pingall"))


def test_basic_tunnel_sends_a_tunnelled_packet_by_its_tunnel_and_not_by_its_address(exercise):
    with exercise("basic_tunnel") as lab:
        inside = bytes.fromhex("4500001400000000400066e10a0001010a000303")  # to h3
        heard = lab.send("h1", frame(lab, "h1", 0x1212, struct.pack("!HH", 0x0800, 2) + inside))
        assert [arrival.host for arrival in heard] == ["h2"]
        assert run(lab, "h1 ping h2")[0]["received"] == 3


def test_calc_answers_a_sum(exercise):
    with exercise("calc") as lab:
        asked = b"P4\x01+" + struct.pack("!III", 1, 2, 0)
        [arrival] = lab.send("h1", frame(lab, "h1", 0x1234, asked))
        assert (arrival.host, struct.unpack("!III", arrival.frame[18:30])) == ("h1", (1, 2, 3))


def test_ecn_marks_what_waits_behind_a_stream(exercise):
    with exercise("ecn") as lab:
        quiet, *_ = run(lab, "h1 udp h2 --tos 1 --rate 8kbps --for 3s")
        busy, _ = run(lab, "h1 udp h2 --tos 1 --rate 8kbps --for 10s & h11 udp h22 --rate 1Mbps --for 10s")
        assert quiet["tos"] == {"0x01": 3}
        assert busy["tos"].get("0x03", 0) >= 5


def test_firewall_lets_out_and_lets_nobody_in(exercise):
    with exercise("firewall", "pod-topo/topology.json", program="basic") as lab:
        inside, out, back = (
            run(lab, line)[0] for line in ("h1 tcp h2 10kB", "h1 tcp h3 10kB", "h3 tcp h1 10kB")
        )
        assert inside["received_bytes"] == out["received_bytes"] == 10_000
        assert back["received_bytes"] == 0 and back["given_up"]


def test_link_monitor_probes_come_back_with_a_report_of_each_link(exercise):
    with exercise("link_monitor", "pod-topo/topology.json") as lab:
        assert run(lab, "h1 udp h4 --count 100")[0]["received"] == 100
        ports = [4, 1, 4, 1, 3, 2, 3, 2, 1]
        [arrival] = lab.send("h1", frame(lab, "h1", 0x0812, b"\0" + bytes(ports)))
        hops = arrival.frame[14]
        records = [arrival.frame[15 + 18 * hop : 33 + 18 * hop] for hop in range(hops)]
        assert arrival.host == "h1" and hops == len(ports)
        # The newest record is first, and only the last has the bottom-of-stack bit.
        assert [record[1] for record in records] == ports[::-1]
        assert [record[0] >> 7 for record in records] == [0] * (hops - 1) + [1]
        assert sum(int.from_bytes(record[2:6], "big") for record in records) > 100_000


def test_load_balance_spreads_flows_over_two_hosts(exercise):
    with exercise("load_balance") as lab:
        tcp = bytes.fromhex("4500002800000000400666cc0a0001010a000001")
        ports = range(50_000, 50_064)
        syns = [struct.pack("!HHIIBBHHH", port, 1234, 0, 0, 0x50, 2, 8192, 0, 0) for port in ports]
        sent = [frame(lab, "h1", 0x0800, tcp + syn) for syn in syns]
        hosts = [arrival.host for arrival in lab.send("h1", *sent)]
        assert len(hosts) == 64 and set(hosts) == {"h2", "h3"}
        assert 16 <= hosts.count("h2") <= 48


def test_mri_packets_carry_the_queue_of_each_switch(exercise):
    with exercise("mri") as lab:
        header = bytearray.fromhex("4600002000000000401100000a0001010a0002021f040000")
        struct.pack_into("!H", header, 10, internet_checksum(bytes(header)))
        asked = frame(lab, "h1", 0x0800, bytes(header) + struct.pack("!HHHH", 1234, 4321, 8, 0))
        [arrival] = lab.send("h1", asked)
        count = int.from_bytes(arrival.frame[36:38], "big")
        switches = [struct.unpack_from("!II", arrival.frame, 38 + 8 * hop)[0] for hop in range(count)]
        assert (arrival.host, switches) == ("h2", [2, 1])


def test_p4runtime_tunnels_are_set_up_over_p4runtime(exercise):
    """Does the writes of solution/mycontroller.py with a P4Runtime client."""
    with exercise("p4runtime", program="advanced_tunnel") as lab:
        lab.serve()
        assert run(lab, "h1 ping h2 -c 1")[0]["received"] == 0
        asyncio.run(_write_tunnels(lab.targets, Path("build/advanced_tunnel.p4.p4info.txtpb")))
        assert run(lab, "h1 ping h2")[0]["received"] == 3


async def _write_tunnels(targets: Mapping[str, str], p4info: Path) -> None:
    def entry(table: str, match: dict[str, object], action: str, **params: object) -> P4TableEntry:
        return P4TableEntry(table, match=P4TableMatch(match), action=P4TableAction(action, **params))

    def tunnel(number: int, destination: str, mac: str) -> tuple[P4TableEntry, P4TableEntry, P4TableEntry]:
        address = {"hdr.ipv4.dstAddr": f"{destination}/32"}
        identifier = {"hdr.myTunnel.dst_id": number}
        return (
            entry("MyIngress.ipv4_lpm", address, "MyIngress.myTunnel_ingress", dst_id=number),
            entry("MyIngress.myTunnel_exact", identifier, "MyIngress.myTunnel_forward", port=2),
            entry("MyIngress.myTunnel_exact", identifier, "MyIngress.myTunnel_egress", dstAddr=mac, port=1),
        )

    there, here = tunnel(100, "10.0.2.2", "08:00:00:00:02:22"), tunnel(200, "10.0.1.1", "08:00:00:00:01:11")
    written = {"s1": [*there[:2], here[2]], "s2": [*here[:2], there[2]]}
    for number, (name, entries) in enumerate(written.items()):
        options = SwitchOptions(
            p4info=p4info, p4blob=p4info.parent / "advanced_tunnel.json", device_id=number
        )
        async with Switch(name, targets[name], options) as switch:
            await switch.insert(entries)


def test_flowcache_learns_a_flow_from_packet_ins_and_forgets_it_when_idle(exercise):
    """Does what solution/mycontroller.py does with a P4Runtime client: answers packet-ins with an entry and a
    packet-out, and notifications of idle entries by deleting them."""
    with exercise("flowcache") as lab:
        lab.serve()
        asyncio.run(_cache_a_flow(lab, Path("build/flowcache.p4.p4info.txtpb")))


async def _cache_a_flow(lab: Lab, p4info: Path) -> None:
    way, h2_mac = {"s1": 2, "s2": 1}, lab.topology.hosts["h2"].mac
    packet = bytes.fromhex("4500001400000000401163d70a0001010a000202")
    asked = frame(lab, "h1", 0x0800, packet)
    async with AsyncExitStack() as stack:
        switches: dict[str, Switch] = {}
        for number, name in enumerate(lab.targets):
            options = SwitchOptions(p4info=p4info, p4blob=p4info.parent / "flowcache.json", device_id=number)
            switches[name] = await stack.enter_async_context(Switch(name, lab.targets[name], options))
            await switches[name].insert([P4CloneSessionEntry(57, replicas=[510])])

        assert lab.send("h1", asked) == []
        for name, port in way.items():
            punted = await _heard(lab, switches[name].read_packets())
            assert punted.payload == asked
            key = {"hdr.ipv4.protocol": 17, "hdr.ipv4.srcAddr": "10.0.1.1", "hdr.ipv4.dstAddr": "10.0.2.2"}
            params = {"port": port, "decrement_ttl": 1, "new_dscp": 5, "dst_eth_addr": h2_mac}
            action = P4TableAction("MyIngress.cached_action", **params)
            match = P4TableMatch(key)
            flow = P4TableEntry("MyIngress.flow_cache", match=match, action=action, idle_timeout_ns=2 * 10**9)
            await switches[name].insert([flow])
            await switches[name].write([P4PacketOut(punted.payload, opcode=1, reserved1=0, operand0=port)])
        while not (first := lab.received("h2")):
            lab.wait(_STEP_PS)
            await asyncio.sleep(0.01)
        assert first[0].frame == asked, "two packet-outs bring the first packet to its host"

        [arrival] = lab.send("h1", asked)
        assert (arrival.host, arrival.frame[14 + 8]) == ("h2", 64 - len(way))
        for name in way:
            idle = await _heard(lab, switches[name].read_idle_timeouts())
            await switches[name].delete(idle.table_entry)
        assert lab.send("h1", asked) == []


async def _heard(lab: Lab, messages: AsyncIterator[Message]) -> Message:
    """Returns the next message of a switch; advances virtual time until it arrives."""
    message = asyncio.ensure_future(anext(messages))
    async with asyncio.timeout(_PATIENCE_S):
        while not message.done():
            lab.wait(_STEP_PS)
            await asyncio.sleep(0.01)
    return message.result()


def test_qos_sets_the_diffserv_class_by_protocol(exercise):
    with exercise("qos") as lab:
        assert run(lab, "h1 udp h2 --count 3 --tos 1")[0]["tos"] == {"0xb9": 3}


def test_source_routing_follows_the_ports_in_the_packet(exercise):
    with exercise("source_routing") as lab:
        route = [2, 3, 2, 2, 1]  # s1, s2, s3, s1, s2 and h2
        words = struct.pack(f"!{len(route)}H", *route[:-1], 0x8000 | route[-1])
        inside = bytes.fromhex("4500001400000000400067e30a0001010a000202")
        [arrival] = lab.send("h1", frame(lab, "h1", 0x1234, words + inside))
        assert arrival.host == "h2" and arrival.frame[12:14] == b"\x08\x00"
        assert arrival.frame[14 + 8] == 64 - len(route)
