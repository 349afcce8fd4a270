"""`eeon-switch` on network interfaces: veth pairs that each test makes. Skipped without root."""

import contextlib
import hashlib
import multiprocessing
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from access_probe import become_nobody
from eeon_engine import LiveSwitch
from eeon_engine.exceptions import ConfigError
from finsy.proto import p4r
from p4rt_client import INSERT, PATCH, lpm, one_shot, pipeline, primary
from switch_process import SwitchProcess, local_grpc, local_thrift, running
from thrift_client import ThriftClient
from veth import PACKET_AUXDATA, SOL_PACKET, Link, ip

from ptf_tests.lib.packets import keyed, without_ip

pytestmark = pytest.mark.system

SECONDS = 60.0
FRAMES = 32
# From linux/if_packet.h; the socket module lacks it.
TP_STATUS_VLAN_VALID = 1 << 4


def in_namespace(namespace: str, code: str) -> "subprocess.Popen[str]":
    command = ["ip", "netns", "exec", namespace, sys.executable, "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextlib.contextmanager
def switch_on(links: list[Link], tmp_path: Path, *more: str) -> Iterator[SwitchProcess]:
    interfaces = [f"-i {port}@{link.switch}" for port, link in enumerate(links)]
    arguments = [*interfaces, "--log-console", *more, *local_thrift(), str(PATCH)]
    with running(*arguments, *local_grpc(), cwd=tmp_path) as switch:
        # The kernel determines the order in which ports come up.
        switch.wait_for_all(*(f"port {port}: interface {link.switch}: up" for port, link in enumerate(links)))
        yield switch


def listening(switch: SwitchProcess) -> str:
    """Returns the address of P4Runtime."""
    return next(line for line in switch.lines if "Server listening" in line).rpartition(" ")[2]


def receive(receiver: socket.socket, accept: int = 0x88B5) -> bytes:
    """Returns the next frame with this type, after its tag if it has one, as it was on the wire."""
    end = time.monotonic() + SECONDS
    while True:
        receiver.settimeout(max(0.01, end - time.monotonic()))
        frame, control, _, _ = receiver.recvmsg(65_536, 256)
        tag = b""
        for level, kind, content in control:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", content[:20])
                if status & TP_STATUS_VLAN_VALID:
                    tag = struct.pack("!HH", tpid, tci)
        if frame[12:14] == accept.to_bytes(2, "big"):
            return frame[:12] + tag + frame[12:]


def test_frames_leave_as_they_came_with_vlan_tags_and_are_captured(links, tmp_path):
    with switch_on(links, tmp_path, "--pcap") as switch:
        with links[0].socket() as left, links[1].socket() as right:
            tagged = without_ip(2)[:12] + b"\x81\x00\x60\x2a" + without_ip(2)[12:]
            double = without_ip(3)[:12] + b"\x88\xa8\x00\x01\x81\x00\x00\x02" + without_ip(3)[12:]
            for frame in (without_ip(1), tagged):
                left.send(frame)
                assert receive(right) == frame
            left.send(double)
            assert receive(right, accept=0x8100) == double
            right.send(without_ip(4))
            assert receive(left) == without_ip(4)
        status, _ = switch.end()
    assert status == 0
    captured = (tmp_path / f"{links[0].switch}_in.pcap").read_bytes()
    assert all(frame in captured for frame in (without_ip(1), tagged, double))
    assert without_ip(4) in (tmp_path / f"{links[0].switch}_out.pcap").read_bytes()


def test_tcp_with_segmentation_left_to_the_nic_arrives_whole(links, tmp_path):
    for number, link in enumerate(links, start=1):
        ip("-n", link.namespace, "addr", "add", f"198.18.77.{number}/24", "dev", "host")
    receiver = """
import hashlib, socket
with socket.create_server(("198.18.77.2", 5001)) as server:
    print("ready", flush=True)
    connection, digest = server.accept()[0], hashlib.sha256()
    while part := connection.recv(1 << 20):
        digest.update(part)
    print(digest.hexdigest(), flush=True)
"""
    sender = """
import socket
with socket.create_connection(("198.18.77.2", 5001), timeout=30) as connection:
    connection.sendall(bytes(range(256)) * 32768)
"""
    with switch_on(links, tmp_path) as switch:
        to = in_namespace(links[1].namespace, receiver)
        assert to.stdout is not None
        assert to.stdout.readline() == "ready\n"
        assert in_namespace(links[0].namespace, sender).wait(SECONDS) == 0
        assert to.stdout.readline().strip() == hashlib.sha256(bytes(range(256)) * 32768).hexdigest()
        to.wait(SECONDS)
        to.stdout.close()
        _, output = switch.end()
    assert "rx_gso_segmented=" in output, "the kernel made super-frames, or this test shows nothing"
    assert "rx_gso_refused" not in output


def test_an_interface_that_goes_down_or_vanishes_is_used_again_when_it_returns(links, tmp_path):
    link = links[0]
    with switch_on(links, tmp_path) as switch:
        for change, gone, back in (
            (lambda: ip("link", "set", link.switch, "down"), "is down", "is up"),
            (lambda: ip("link", "del", link.switch), "has vanished", "is back"),
        ):
            change()
            switch.wait_for(f"port 0: interface {link.switch} {gone}")
            with links[1].socket() as right:
                right.send(without_ip(1))
            if gone == "is down":
                ip("link", "set", link.switch, "up")
            else:
                link.make()
            switch.wait_for(f"port 0: interface {link.switch} {back}")
            with link.socket() as left, links[1].socket() as right:
                left.send(without_ip(2))
                assert receive(right) == without_ip(2)
                right.send(without_ip(3))
                assert receive(left) == without_ip(3)
        status, output = switch.end()
    assert status == 0
    assert "tx_down=" in output


def ports_at(*interfaces: tuple[int, str]) -> list[tuple[int, str, bool]]:
    return LiveSwitch(interfaces=interfaces).port_info()


def test_switch_of_an_ordinary_user_starts_without_interfaces_and_names_what_one_needs():
    if os.geteuid() != 0:
        pytest.skip("needs root, to act as another user")
    with multiprocessing.get_context("fork").Pool(1, become_nobody) as nobody:
        assert nobody.apply(ports_at) == []
        with pytest.raises(ConfigError, match="packet sockets need root or CAP_NET_RAW"):
            nobody.apply(ports_at, ((0, "lo"),))


def test_a_rate_of_zero_for_all_ports_is_refused_without_the_name_of_one():
    with pytest.raises(ConfigError, match=r"^rate_bps 0; leave it out for ports without delay"):
        LiveSwitch(interfaces=[], rate_bps=0)


def test_interfaces_are_added_and_removed_over_thrift_while_the_switch_runs(links, tmp_path):
    thrift_options = local_thrift()
    allowed = ["--allow-interface", links[1].switch]
    arguments = ["-i", f"0@{links[0].switch}", *allowed, "--log-console", *thrift_options, str(PATCH)]
    with running(*arguments, cwd=tmp_path, name="simple_switch") as switch:
        switch.wait_for("Thrift server was started")
        switch.wait_for(f"interface {links[0].switch}: up")
        with ThriftClient(f"127.0.0.1:{thrift_options[1]}") as client, links[0].socket() as left:
            client.standard.bm_dev_mgr_add_port(links[1].switch, 1, "")
            with links[1].socket() as right:
                left.send(without_ip(1))
                assert receive(right) == without_ip(1)
            ports = client.standard.bm_dev_mgr_show_ports()
            shown = [(port.port_num, port.iface_name, port.is_up) for port in ports]
            assert shown == [(0, links[0].switch, True), (1, links[1].switch, True)]
            client.standard.bm_dev_mgr_remove_port(1)
            assert len(client.standard.bm_dev_mgr_show_ports()) == 1


def spread(left: socket.socket, right: list[socket.socket]) -> list[int]:
    """Returns the number of frames with different keys that leave on each port."""
    for key in range(FRAMES):
        left.send(keyed(0x0A000000 + key * 7919))
    found, end = [0 for _ in right], time.monotonic() + 1
    while sum(found) < FRAMES and time.monotonic() < end:
        for at, receiver in enumerate(right):
            with contextlib.suppress(BlockingIOError, OSError):
                while True:
                    found[at] += receiver.recv(2048)[12:14] == b"\x12\x34"
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("links", [3], indirect=True)
@pytest.mark.parametrize("end", ["own", "other"])
def test_an_interface_without_a_link_leaves_the_selection_until_it_has_one(end, links, names, tmp_path):
    with (
        switch_on(links, tmp_path, "--device-id", "1") as switch,
        primary(listening(switch), pipeline()) as client,
        contextlib.ExitStack() as stack,
    ):
        actions = one_shot((names.action("forward", 1), 1), (names.action("forward", 2), 1))
        for port, action in enumerate(actions.action_profile_action_set.action_profile_actions, 1):
            action.watch_port = bytes([port])
        entry = names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=actions)
        client.write((INSERT, entry))
        left, *right = (stack.enter_context(link.socket()) for link in links)
        for receiver in right:
            receiver.setblocking(False)

        def wait_for(wanted: Callable[[int, int], bool]) -> None:
            end, found = time.monotonic() + SECONDS, [0, 0]
            while time.monotonic() < end:
                found = spread(left, right)
                if sum(found) == FRAMES and wanted(*found):
                    return
            pytest.fail(f"{FRAMES} frames, and by ports 1 and 2 left {found}")

        wait_for(lambda one, two: one > 0 and two > 0)
        interface = ("link", "set", links[2].switch)
        if end == "other":
            interface = ("-n", links[2].namespace, "link", "set", "host")
        ip(*interface, "down")
        wait_for(lambda one, two: one == FRAMES)
        assert client.read(p4r.TableEntry(table_id=names["lpm_table"])) == [entry]
        ip(*interface, "up")
        wait_for(lambda one, two: one > 0 and two > 0)
