"""Links of a live fabric that fail: leaves avoid the uplinks that are down, and use them again later.

Skipped with a message without root. On the engine: on BMv2 the controller's routes watch no port.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from eeon_tools.live import state
from live_fabrics import EEON, NEEDS_FABRIC, Fabric, brought_up, until

pytestmark = NEEDS_FABRIC

FLOWS = 16  # all of them choose one spine with a probability of 2^-15, and the hash is the same in every run
SERVER = """
import socket
listening = socket.create_server(("10.0.2.1", 5000), backlog=100)
print("listening", flush=True)
while True:
    listening.accept()[0].close()
"""
# Each retransmission of a flow's SYN takes the same path: if that is down, it never arrives.
CLIENT = f"""
import json, socket
lost = []
for port in range(40000, {40000 + FLOWS}):
    with socket.socket() as one:
        one.settimeout(8)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
        one.bind(("10.0.1.1", port))
        try:
            one.connect(("10.0.2.1", 5000))
        except OSError:
            lost.append(port)
            break
print(json.dumps(lost))
"""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory) -> Iterator[Fabric]:
    name = f"k{os.getpid() % 1000:03d}"
    inside = (*EEON, "fabric", "exec", "--name", name, "h3", "--", sys.executable, "-c", SERVER)
    with brought_up(tmp_path_factory.mktemp("links"), name, "--rate-scale", "1/100") as up:
        up.apply("drop_tail")
        with subprocess.Popen(inside, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout.readline() == "listening\n"
                yield up
            finally:
                server.kill()


def spine1_links(fabric: Fabric, is_up: bool) -> None:
    """Sets the interfaces of spine1, device 3, up or down: the other ends lose their carrier."""
    for interface in state.load(fabric.name).interfaces:
        if interface.startswith(f"{fabric.name}3p"):
            subprocess.run(("ip", "link", "set", interface, "up" if is_up else "down"), check=True)


def flows_lost(fabric: Fabric) -> list[int]:
    words = ("fabric", "exec", "--name", fabric.name, "h1", "--", sys.executable, "-c", CLIENT)
    return json.loads(fabric.eeon(*words).stdout)


def sent(fabric: Fabric) -> dict[str, int]:
    return {row["port"]: row["sent_packets"] for row in fabric.show("ports")}


def test_traffic_goes_on_when_a_spine_dies_and_comes_back_to_it(fabric):
    assert flows_lost(fabric) == []
    first = sent(fabric)
    assert first["leaf1:3"] > 0 and first["leaf1:4"] > 0, "flows choose both spines"

    spine1_links(fabric, is_up=False)
    try:
        until(lambda: not flows_lost(fabric), "flows still choose the dead spine")
        before = sent(fabric)
        assert flows_lost(fabric) == []
        after = sent(fabric)
        assert after["leaf1:4"] - before["leaf1:4"] >= FLOWS, "every flow takes the other uplink"
    finally:
        spine1_links(fabric, is_up=True)

    until(
        lambda: not flows_lost(fabric) and sent(fabric)["leaf1:3"] > after["leaf1:3"],
        "no flow chooses the spine that is back",
    )
