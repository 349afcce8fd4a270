"""Attacks a switch until its input ends; an argument names the attack. For `test_hostile_suite.py`.

    python hostile_client.py ATTACK GRPC_ADDRESS THRIFT_ADDRESS CA

If it was started by root, it becomes the user nobody after all imports. It prints `ready` when it starts and,
when its standard input ends, the number of times that it has started the attack.
"""

import encodings.idna  # noqa: F401 # a socket needs it; nobody may not be able to read it later
import itertools
import os
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import grpc
from finsy.proto import U128, gnmi, gnmi_grpc, p4r, p4r_grpc

NOBODY = 65_534
_SERVICE = "/p4.v1.P4Runtime/"
_LARGE = p4r.WriteRequest(device_id=1, role="x" * (7 << 20)).SerializeToString()
_TOO_LONG = bytes(9 << 20)
_THREADS = {"made_up_roles": 2, "large_messages": 8, "silent_connections": 1, "handshakes": 8}
"""Threads of an attack; of others, four."""
_THRIFT_CALL = struct.pack("!II", 0x80010001, 30) + b"standard:bm_mt_get_num_entries"


@cache
def _wildcards() -> p4r.ReadRequest:
    request = p4r.ReadRequest(device_id=1)
    for number in range(2000):
        request.entities.add().register_entry.SetInParent()
        request.entities.add().counter_entry.SetInParent()
        request.entities.add().table_entry.metadata = number.to_bytes(2, "big")
    return request


class Attacker:
    """The attacks of one client."""

    def __init__(self, grpc_address: str, thrift_address: str, authority: str) -> None:
        self.grpc_address, self.thrift_address = grpc_address, thrift_address
        self.authority = Path(authority).read_bytes() if authority else None
        self.deeds = 0
        self.stopping = threading.Event()
        self.numbers = itertools.count(1)
        self.held: list[socket.socket] = []

    @contextmanager
    def connected(self) -> Iterator[tuple[grpc.Channel, Callable[[], Iterator[bytes]]]]:
        """Yields a connection, and an iterator of requests that blocks until the block ends."""
        is_over = threading.Event()

        def never() -> Iterator[bytes]:
            is_over.wait()
            yield b""

        with self._channel() as channel:
            try:
                yield channel, never
            finally:
                # gRPC uses one thread for each of these iterators.
                is_over.set()

    def _channel(self) -> grpc.Channel:
        options = [("grpc.use_local_subchannel_pool", 1)]
        if self.authority is not None:
            credentials = grpc.ssl_channel_credentials(self.authority)
            return grpc.secure_channel(self.grpc_address, credentials, options=options)
        return grpc.insecure_channel(self.grpc_address, options=options)

    def again(self, deed: Callable[[], object]) -> None:
        """Repeats an attack until the end."""
        while not self.stopping.is_set():
            self.deeds += 1
            with suppress(grpc.RpcError, OSError, ValueError):
                deed()
            # Leaves the operating system some time for threads and sockets that end.
            time.sleep(0.001)

    # ---- P4Runtime

    def silent_streams(self) -> None:
        """Opens streams that never send, some hundred at a time."""
        with self.connected() as (channel, never):
            stub = p4r_grpc.P4RuntimeStub(channel)
            streams = [stub.StreamChannel(never()) for _ in range(60)]
            with suppress(grpc.RpcError):
                next(streams[-1])

    def made_up_roles(self) -> None:
        """Opens streams that become primary of unknown roles, and backups of the default role."""
        with self.connected() as (channel, never):
            stub, streams = p4r_grpc.P4RuntimeStub(channel), []
            for _ in range(40):
                number = next(self.numbers)
                message = p4r.StreamMessageRequest()
                message.arbitration.device_id = 1
                if number % 2:
                    message.arbitration.role.name = f"made up {number}"
                    message.arbitration.election_id.CopyFrom(U128.encode(number))

                def asked(message: p4r.StreamMessageRequest = message) -> Iterator[p4r.StreamMessageRequest]:
                    yield message
                    yield from never()  # type: ignore[misc]

                streams.append(stub.StreamChannel(asked()))
            for stream in streams:
                with suppress(grpc.RpcError):
                    next(stream)

    def slow_requests(self) -> None:
        """Starts calls without sending requests."""
        with self.connected() as (channel, never):
            calls = [
                channel.stream_unary(_SERVICE + method).future(never())
                for method in ("Write", "Read", "SetForwardingPipelineConfig", "Capabilities")
                for _ in range(25)
            ]
            calls[0].exception(timeout=10)

    def large_messages(self) -> None:
        """Sends requests of megabytes, of all kinds."""
        with self.connected() as (channel, _never):
            for method in ("Write", "Read", "SetForwardingPipelineConfig", "StreamChannel"):
                for message in (_LARGE, _TOO_LONG):
                    with suppress(grpc.RpcError):
                        channel.unary_unary(_SERVICE + method)(message, timeout=20)

    def wildcard_reads(self) -> None:
        """Reads everything, as often as fits into a request."""
        with self.connected() as (channel, _never):
            for _ in p4r_grpc.P4RuntimeStub(channel).Read(_wildcards(), timeout=20):
                pass

    def slow_readers(self) -> None:
        """Reads megabytes without receiving the responses: some stay in the switch until they are ended."""
        request = p4r.ReadRequest(device_id=1)
        for number in range(100):
            # Equal items would be read once; the data make no difference.
            request.entities.add().register_entry.data.bitstring = number.to_bytes(2, "big")
        with self.connected() as (channel, _never):
            answers = [p4r_grpc.P4RuntimeStub(channel).Read(request) for _ in range(25)]
            next(answers[0])
            self.stopping.wait(5)

    def calls(self) -> None:
        """Makes as many small calls as possible, valid and invalid."""
        with self.connected() as (channel, _never):
            stub = p4r_grpc.P4RuntimeStub(channel)
            for _ in range(100):
                stub.Capabilities(p4r.CapabilitiesRequest(), timeout=20)
                with suppress(grpc.RpcError):
                    stub.Write(p4r.WriteRequest(device_id=1), timeout=20)

    # ---- gNMI

    def gnmi_gets(self) -> None:
        """Gets everything, as often as fits into a request."""
        request = gnmi.GetRequest(path=[gnmi.Path()] * 512, encoding=gnmi.JSON_IETF)
        with self.connected() as (channel, _never):
            gnmi_grpc.gNMIStub(channel).Get(request, timeout=20)

    def gnmi_subscriptions(self) -> None:
        """Subscribes to everything at the highest rate and on every change, and reads no responses."""
        everything = gnmi.SubscriptionList(encoding=gnmi.PROTO)
        everything.subscription.add(mode=gnmi.SAMPLE, sample_interval=100_000_000)
        everything.subscription.add(mode=gnmi.ON_CHANGE)
        with self.connected() as (channel, never):

            def requests() -> Iterator[gnmi.SubscribeRequest]:
                yield gnmi.SubscribeRequest(subscribe=everything)
                yield from never()  # type: ignore[misc]

            streams = [gnmi_grpc.gNMIStub(channel).Subscribe(requests()) for _ in range(25)]
            with suppress(grpc.RpcError):
                next(streams[-1])
            self.stopping.wait(1)

    # ---- sockets

    def connect(self, address: str) -> socket.socket:
        host, _, port = address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=5)

    def silent_connections(self) -> None:
        """Opens connections that send nothing, some hundred to each server."""
        for address in filter(None, (self.grpc_address, self.thrift_address)):
            self.held.append(self.connect(address))
        if len(self.held) > 600:
            time.sleep(0.05)
            for one in self.held[:100]:
                one.close()
            del self.held[:100]

    def garbage(self) -> None:
        """Opens connections that send random bytes."""
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
        for address in filter(None, (self.grpc_address, self.thrift_address)):
            for content in (preface + os.urandom(2000), os.urandom(200), b"GET / HTTP/1.1\r\n\r\n"):
                with self.connect(address) as stranger:
                    stranger.sendall(content)

    def slow_thrift(self) -> None:
        """Starts calls over Thrift without completing them, and sends long calls."""
        long_string = struct.pack("!bhi", 11, 2, 32 << 20)
        held = [self.connect(self.thrift_address) for _ in range(20)]
        for number, one in enumerate(held):
            with suppress(OSError):
                one.sendall(_THRIFT_CALL + (long_string + bytes(1 << 20) if number % 4 == 0 else b""))
        time.sleep(0.1)
        for one in held:
            one.close()

    def handshakes(self) -> None:
        """Performs TLS handshakes: without a certificate, interrupted, and never started."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with self.connect(self.grpc_address) as stranger:
            # The beginning of a ClientHello.
            stranger.sendall(b"\x16\x03\x01\x02\x00\x01")
        with self.connect(self.grpc_address) as stranger, context.wrap_socket(stranger) as encrypted:
            encrypted.recv(1)


def main() -> None:
    """Repeats one attack until its standard input ends."""
    name, grpc_address, thrift_address, authority = sys.argv[1:5]
    attacker = Attacker(grpc_address, thrift_address, authority)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for _ in range(_THREADS.get(name, 4)):
        threading.Thread(target=attacker.again, args=(getattr(attacker, name),), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    attacker.stopping.set()
    print(attacker.deeds, flush=True)
    # Does not wait for threads and channels that wait for the switch.
    os._exit(0)


if __name__ == "__main__":
    main()
