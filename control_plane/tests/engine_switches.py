"""Engine switches of a topology in this process, each with a P4Runtime server. Only tests advance their clocks,
and make them refuse requests, or change what they hold behind the controller's back."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator

import pytest
from eeon_control import program
from eeon_control.targets import Target
from eeon_control.topology import Switch, Topology

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from eeon_engine import _engine as engine
from eeon_engine import p4runtime, thrift
from eeon_engine.p4runtime.clients.access import ANYBODY
from eeon_engine.p4runtime.device import Device
from eeon_engine.p4runtime.errors import StatusError, unimplemented
from eeon_engine.p4runtime.program.pipeline import Pipeline
from eeon_engine.p4runtime.server.server import Server
from finsy.proto import p4r, rpc_code

TICK_PS = 1000
SCHEMA = program.load().schema()
ONE_SWITCH = """
name: one-switch
defaults: {delay: 1us, overhead: 24B}
nodes: {leaf1: {kind: switch, role: leaf}, h1: {kind: host}}
links: [{endpoints: ["leaf1:1", "h1:1"], rate: 1Gbps}]
"""


class LocalSwitch(Device):
    """A switch and its server, from `start` to `stop`.

    `fault(update)` may return (canonical code, message) to refuse an update. With `refuses_to_read_as`, the switch
    refuses to return its program, with this message. `updates`: those that it was given; `pushes`: the
    number of programs loaded.
    """

    def __init__(self, switch: Switch, **options: object) -> None:
        self.engine = engine.Switch(
            device_id=switch.device_id,
            tick_ps=TICK_PS,
            ports=[
                engine.Port(port.number, rate_bps=int(port.rate), overhead_bytes=int(port.overhead))
                for port in switch.ports
            ],
            **{"gate_register": "gate_open_at", **options},
        )
        super().__init__(self.engine, None)
        self.device_id = switch.device_id
        self.fault: Callable[[p4r.Update], tuple[int, str] | None] | None = None
        self.refuses_to_read_as = ""
        self.refuses_registers = self.refuses_to_reconcile = False
        self.updates: list[p4r.Update] = []
        self.pushes = self.largest_write = 0

    def start(self, address: str) -> None:
        self._server = Server(self.engine, self, address)
        self.address = self._server.address

    def stop(self) -> None:
        self._server.stop(0)

    def load(self, program: p4r.ForwardingPipelineConfig) -> None:
        """Loads a program, as its owner."""
        self._commit(Pipeline.from_config(program), [])

    # -- faults -------------------------------------------------------------------------------------------

    def get_pipeline(self, request, caller=ANYBODY):
        if self.refuses_to_read_as:
            raise StatusError(rpc_code.INTERNAL, self.refuses_to_read_as)
        return super().get_pipeline(request, caller)

    def set_pipeline(self, request, caller=ANYBODY) -> None:
        if request.action == request.RECONCILE_AND_COMMIT and self.refuses_to_reconcile:
            raise unimplemented("reconciling is not supported")
        with self._lock:
            super().set_pipeline(request, caller)
            self.pushes += 1
            own = p4r.ForwardingPipelineConfig()  # switches with the same program share one message
            own.CopyFrom(self.config)
            self.config = own

    def write(self, request, caller=ANYBODY):
        self.largest_write = max(self.largest_write, len(request.updates))
        self.updates += request.updates
        if self.fault is None:
            return super().write(request, caller)
        with self._lock:
            self._arbitration.check_request(request, caller)
            return [self._write_one(request, update, caller) for update in request.updates]

    def _write_one(self, request, update: p4r.Update, caller) -> StatusError | None:
        if (refusal := self.fault(update)) is not None:
            return StatusError(*refusal)
        alone = p4r.WriteRequest(
            device_id=request.device_id, election_id=request.election_id, role=request.role, updates=[update]
        )
        return super().write(alone, caller)[0]

    def read(self, request, caller=ANYBODY):
        if self.refuses_registers and any(one.HasField("register_entry") for one in request.entities):
            raise unimplemented("registers are not served")
        return super().read(request, caller)

    # -- what it holds ------------------------------------------------------------------------------------

    @property
    def config(self) -> p4r.ForwardingPipelineConfig | None:
        """The program as it is told to clients."""
        return None if self._pipeline is None else self._pipeline.config

    @config.setter
    def config(self, told: p4r.ForwardingPipelineConfig | None) -> None:
        held = self._pipeline or Pipeline(None, None, None)
        self._pipeline = None if told is None else dataclasses.replace(held, config=told)

    @property
    def entries(self) -> list[p4r.TableEntry]:
        return self.of_table(0)

    def of_table(self, table: str | int) -> list[p4r.TableEntry]:
        """Returns the entries of a table, by its alias or id; 0: of all."""
        number = SCHEMA.tables[table].id if isinstance(table, str) else table
        return self._entries(p4r.TableEntry(table_id=number))

    def state(self) -> frozenset[bytes]:
        """Returns all entries and defaults, to compare before and after."""
        found = self._entries(p4r.TableEntry(), p4r.TableEntry(is_default_action=True))
        return frozenset(entry.SerializeToString(deterministic=True) for entry in found)

    def _entries(self, *wanted: p4r.TableEntry) -> list[p4r.TableEntry]:
        if self._forwarding is None:
            return []
        entities = [p4r.Entity(table_entry=one) for one in wanted]
        reading = super().read(p4r.ReadRequest(device_id=self.device_id, entities=entities))
        return [entity.table_entry for part in reading.responses() for entity in part.entities]

    # -- what it holds, changed behind the back of its clients ----------------------------------------------

    def insert(self, *entries: p4r.TableEntry) -> None:
        self._change(p4r.Update.INSERT, entries)

    def modify(self, *entries: p4r.TableEntry) -> None:
        self._change(p4r.Update.MODIFY, entries)

    def remove(self, *entries: p4r.TableEntry) -> None:
        self._change(p4r.Update.DELETE, entries)

    def lose_one(self) -> None:
        """Removes one entry."""
        self.remove(self.entries[-1])

    def _change(self, kind: p4r.Update.Type.ValueType, entries: Iterable[p4r.TableEntry]) -> None:
        for entry in entries:
            self._forwarding.write(p4r.Update(type=kind, entity=p4r.Entity(table_entry=entry)))

    def set_register(self, name: str, index: int, number: int) -> None:
        self.engine.register_write(SCHEMA.registers[name].name, index, number.to_bytes(8, "big"))

    def set_counter(self, name: str, index: int, packets: int, size: int) -> None:
        self.engine.write_counters(SCHEMA.counters[name].name, index, size, packets)


class LocalFabric:
    """A LocalSwitch for every switch of a topology, served in its context."""

    def __init__(self, topology: Topology, make: Callable[..., LocalSwitch] = LocalSwitch, **options) -> None:
        self.switches = {name: make(switch, **options) for name, switch in topology.switches.items()}

    def __enter__(self) -> LocalFabric:
        for switch in self.switches.values():
            switch.start("127.0.0.1:0")
        return self

    def __exit__(self, *_: object) -> None:
        for switch in self.switches.values():
            switch.stop()

    @property
    def targets(self) -> dict[str, str]:
        return {name: switch.address for name, switch in self.switches.items()}

    def state(self) -> dict[str, object]:
        return {name: switch.state() for name, switch in self.switches.items()}


@contextlib.contextmanager
def serving(fabric: Topology, **options) -> Iterator[tuple[dict, dict[str, str]]]:
    """Yields the engine's switches and their servers' addresses, by name. `options`: further ones of `Switch`."""
    with LocalFabric(fabric, **options) as found:
        yield {name: one.engine for name, one in found.switches.items()}, found.targets


@contextlib.contextmanager
def serving_thrift_too() -> Iterator[Target]:
    """Yields one switch without ports, which serves P4Runtime and Thrift."""
    switch = engine.Switch(device_id=1, tick_ps=TICK_PS)
    with p4runtime.serve(switch) as server, thrift.serve(switch, "127.0.0.1:0") as other:
        yield Target(server.address, 1, None, other.address)
