"""`eeon-switch` as a process, without root: files, FIFOs, a nanomsg socket, its servers, its end."""

import contextlib
import os
import signal
import socket
import stat
import struct
import sys
import time
from pathlib import Path

import pytest
from p4rt_client import INSERT, PATCH, Names, exact, p4info, pipeline, primary
from switch_process import local_grpc, local_thrift, running
from test_switch_options import rows
from thrift_client import ThriftClient

from control_plane.tests.waiting import wait_until
from differential.nanomsg import Pair
from ptf_tests.lib.packets import without_ip

pytestmark = pytest.mark.system

HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
SECONDS = 60.0


def record(frame: bytes, at_us: int = 0) -> bytes:
    return struct.pack("<IIII", at_us // 1_000_000, at_us % 1_000_000, len(frame), len(frame)) + frame


def frames_of(path: Path) -> list[bytes]:
    """Returns the frames of a pcap file that have been written so far."""
    content, place, frames = path.read_bytes(), len(HEADER), []
    while place + 16 <= len(content):
        (length,) = struct.unpack_from("<I", content, place + 8)
        frames.append(content[place + 16 : place + 16 + length])
        place += 16 + length
    return frames


def wait_for_frames(path: Path, count: int) -> list[bytes]:
    why = f"fewer than {count} frames in {path.name}"
    wait_until(lambda: path.exists() and len(frames_of(path)) >= count, why)
    return frames_of(path)


def test_frames_of_files_come_out_at_the_other_port_and_the_switch_ends_with_0(tmp_path):
    sent = [without_ip(number) for number in range(1000)]
    (tmp_path / "a_in.pcap").write_bytes(
        HEADER + b"".join(record(frame, 10 * i) for i, frame in enumerate(sent))
    )
    (tmp_path / "b_in.pcap").write_bytes(HEADER + record(b"the other way" + bytes(47)))
    arguments = ["-i 0@a", "-i 1@b", "--use-files", "0", "--log-console", *local_thrift(), str(PATCH)]
    with running(*arguments, *local_grpc(), cwd=tmp_path) as switch:
        switch.wait_for("Adding interface a as port 0 (files)")
        switch.wait_for("Server listening on 127.0.0.1:")
        assert wait_for_frames(tmp_path / "b_out.pcap", 1000) == sent
        assert wait_for_frames(tmp_path / "a_out.pcap", 1) == [b"the other way" + bytes(47)]
        status, output = switch.end()
    assert status == 0
    assert "end of 'a_in.pcap' after 1000 frames" in output
    assert "received=1001 sent=1001" in output


def test_fifos_deliver_frames_while_they_are_open(tmp_path):
    for name in ("a", "b"):
        os.mkfifo(tmp_path / f"{name}_in.pcap")
    arguments = ["-i", "0@a", "-i", "1@b", "--use-files", "0", *local_thrift(), str(PATCH)]
    with running(*arguments, *local_grpc(), cwd=tmp_path) as switch:
        with (
            (tmp_path / "b_in.pcap").open("wb", buffering=0) as b,
            (tmp_path / "a_in.pcap").open("wb", buffering=0) as a,
        ):
            a.write(HEADER)
            a.write(record(without_ip(1)))
            assert wait_for_frames(tmp_path / "b_out.pcap", 1) == [without_ip(1)]
            b.write(HEADER + record(without_ip(2)))
            assert wait_for_frames(tmp_path / "a_out.pcap", 1) == [without_ip(2)]
        assert switch.end(signal.SIGINT)[0] == 0


class NanomsgPeer(Pair):
    """The differential tester's socket, which waits for a switch that is starting."""

    def __init__(self, path: Path) -> None:
        end = time.monotonic() + SECONDS
        while True:
            with contextlib.suppress(OSError):
                super().__init__(path)
                break
            assert time.monotonic() < end, "nobody listens"
            time.sleep(0.05)
        self._frames: list[tuple[int, bytes]] = []

    def receive_one(self) -> tuple[int, bytes]:
        if not self._frames:
            self._frames = self.receive(1, SECONDS)
        assert self._frames, "no frame has left"
        return self._frames.pop(0)

    def shutdown(self) -> None:
        """Ends the wait of another thread."""
        self._socket.shutdown(socket.SHUT_RDWR)


def test_all_ports_are_reached_through_one_nanomsg_socket_and_peers_may_come_and_go(tmp_path):
    address = f"ipc://{tmp_path}/p"
    with running("--packet-in", address, *local_thrift(), str(PATCH), *local_grpc(), cwd=tmp_path) as switch:
        for _ in range(2):
            peer = NanomsgPeer(tmp_path / "p")
            peer.send(6, without_ip(6))
            assert peer.receive_one() == (7, without_ip(6))
            peer.send(301, without_ip(301))
            assert peer.receive_one() == (300, without_ip(301))
            peer.close()
        assert switch.end()[0] == 0
    assert not (tmp_path / "p").exists()


def test_ptfs_nn_platform_exchanges_frames_with_the_switch(tmp_path):
    pytest.importorskip("pynng", reason="PTF's nn platform needs pynng")
    dataplane = pytest.importorskip("ptf.dataplane")
    address = f"ipc://{tmp_path}/ptf"
    with running("--packet-in", address, *local_thrift(), str(PATCH), *local_grpc(), cwd=tmp_path) as switch:
        switch.wait_for("Server listening")
        source = dataplane.DataPlanePacketSourceNN(0, address, 10_000, 1_000)
        source.port_add(1)
        source.send(0, without_ip(5))
        assert source.recv()[:3] == (0, 1, without_ip(5))
        source.close()


def test_a_table_written_over_p4runtime_moves_the_next_frame(tmp_path):
    address = f"ipc://{tmp_path}/p"
    arguments = ["--packet-in", address, "--no-p4", "--device-id", "1", *local_thrift()]
    with running(*arguments, *local_grpc(), cwd=tmp_path) as switch:
        listening = switch.wait_for("Server listening on ").rpartition(" ")[2]
        names, peer = Names(p4info("patch")), NanomsgPeer(tmp_path / "p")
        with primary(listening, pipeline("patch")) as client:
            peer.send(0, without_ip(1))
            assert peer.receive_one() == (1, without_ip(1))
            client.write((INSERT, names.entry("forward", exact(1, 0), action=names.action("to_port", 9))))
            peer.send(0, without_ip(2))
            assert peer.receive_one() == (9, without_ip(2))
        peer.close()


@pytest.mark.parametrize(("line", "reason"), rows("not started"))
def test_what_cannot_start_ends_with_1_and_says_why(line, reason, tmp_path):
    files = {"PATCH": str(PATCH), "SOURCE": __file__}
    arguments = [files.get(word, word) for word in line]
    with running(*local_thrift(), *arguments, cwd=tmp_path) as switch:
        status = switch.process.wait(SECONDS)
        output = switch.end()[1]
    assert (status, reason in output) == (1, True), output
    assert "Traceback" not in output


def test_a_log_file_has_bmv2s_name_and_lines(tmp_path):
    (tmp_path / "a_in.pcap").write_bytes(HEADER)
    arguments = ["-i", "0@a", "--use-files", "0", "--log-file", "switch.log", "--log-flush", *local_thrift()]
    with running(*arguments, str(PATCH), *local_grpc(), cwd=tmp_path) as switch:
        switch.wait_for("Server listening")
        log = tmp_path / "switch.log.txt"
        wait_until(lambda: "end of 'a_in.pcap'" in log.read_text(), "the log lacks its last line")
    assert "] [bmv2] [I] [thread " in log.read_text()


def test_the_names_of_bmv2_are_put_where_the_user_says_and_never_over_a_real_one(tmp_path):
    with running("--install-names", str(tmp_path / "bin"), cwd=tmp_path) as switch:
        assert switch.process.wait(SECONDS) == 0
    for name in ("simple_switch", "simple_switch_grpc"):
        installed = tmp_path / "bin" / name
        assert installed.stat().st_mode & stat.S_IXUSR
        assert sys.executable in installed.read_text()
    (tmp_path / "bin" / "simple_switch").write_text("#!/bin/sh\n# somebody else's\n")
    with running("--install-names", str(tmp_path / "bin"), cwd=tmp_path) as switch:
        assert switch.process.wait(SECONDS) == 1
        assert "was not made by eeon-switch" in switch.end()[1]
    assert "somebody else's" in (tmp_path / "bin" / "simple_switch").read_text()


def test_simple_switch_serves_thrift_and_no_p4runtime(tmp_path):
    thrift_options = local_thrift()
    arguments = ["--packet-in", f"ipc://{tmp_path}/p", *thrift_options, "--log-console", str(PATCH)]
    with running(*arguments, cwd=tmp_path, name="simple_switch") as switch:
        switch.wait_for("Thrift server was started")
        peer = NanomsgPeer(tmp_path / "p")
        peer.send(4, without_ip(1))
        assert peer.receive_one() == (5, without_ip(1))
        with ThriftClient(f"127.0.0.1:{thrift_options[1]}") as client:
            assert client.standard.bm_register_read(0, "PatchIngress.frames", 4) == 1
            assert client.switch.get_time_elapsed_us() > 0
        with pytest.raises(ConnectionRefusedError):  # a server on every address would accept it
            socket.create_connection(("127.0.0.2", int(thrift_options[1])), timeout=SECONDS).close()
        peer.close()
        assert "Server listening" not in switch.end()[1]
