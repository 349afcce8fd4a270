"""The engine as the other side: a `Switch` in virtual time, called over its own Thrift server."""

import logging

from eeon_engine import Program, Switch
from eeon_engine.p4runtime import serve as serve_p4runtime
from eeon_engine.thrift import serve
from finsy.proto import p4i

from .p4runtime import SERVICE, P4RuntimeClient
from .thrift import Call, Client

TICK_PS = 1_000_000
"""A microsecond, as in BMv2."""
BETWEEN_PACKETS_PS = 100 * TICK_PS
START_PS = 1_000_000 * TICK_PS
"""No timestamp is 0, as in BMv2 when the first packet arrives."""
SLICE_PS = 1000 * TICK_PS
SLICES = 20_000


class Faulted(Exception):
    """The program has faulted on the packet, where BMv2 would end; or the packet does not end."""


class Engine:
    """A switch with one program."""

    def __init__(self, program: bytes, info: p4i.P4Info | None = None) -> None:
        """Starts the switch. With a P4Info, its pipeline is set over P4Runtime, and requests go there."""
        # Refusals are expected results here.
        logging.getLogger("eeon_engine").setLevel(logging.CRITICAL)
        self._switch = Switch(Program(program), tick_ps=TICK_PS, cpu_port=None)
        self._switch.advance_to(START_PS)
        self._server = serve(self._switch, "127.0.0.1:0")
        self._server.__enter__()
        self._client = Client(self._server.address)
        # The server closes a connection without an early first call, and BMv2 starts before that.
        self._client.make(Call("standard", "bm_mgmt_get_info", ()))
        self._faults = 0
        self._p4runtime: P4RuntimeClient | None = None
        if info is not None:
            self._p4runtime_server = serve_p4runtime(self._switch)
            self._p4runtime = P4RuntimeClient(self._p4runtime_server.address, info, program)

    def close(self) -> None:
        """Ends the switch's servers."""
        if self._p4runtime is not None:
            self._p4runtime.close()
            self._p4runtime_server.stop(0)
        self._client.close()
        self._server.__exit__(None, None, None)

    def control(self, call: Call) -> object:
        """Returns the answer to a call."""
        if call.service == SERVICE:
            assert self._p4runtime is not None, "a subject with a P4Info"
            return self._p4runtime.make(call)
        return self._client.make(call)

    def packet(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Returns the frames that leave after one has arrived, as (port, frame). Raises `Faulted`."""
        at = self._switch.now_ps + BETWEEN_PACKETS_PS
        self._switch.inject(port, frame, at)
        sent = self._switch.advance_to(at)
        for _ in range(SLICES):
            if self._switch.next_event_ps is None:
                break
            sent += self._switch.advance_to(self._switch.now_ps + SLICE_PS)
        else:
            raise Faulted("the packet does not come to an end")
        drops = self._switch.stats()["drops"]
        assert isinstance(drops, dict)
        faults = drops.get("program_fault", 0)
        if faults != self._faults:
            self._faults = faults
            raise Faulted("the program faults on the packet")
        return [(out, data) for _, out, data in sent]

    def counted(self, counter: str, size: int) -> list[int]:
        """Returns the cells of an indirect counter that are not zero."""
        cells = self._switch.read_counters_range(counter, 0, size)
        return [index for index, cell in enumerate(cells) if tuple(cell) != (0, 0)]
