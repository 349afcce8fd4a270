"""An in-process P4Runtime server that stores writes: a fake switch with faults on demand.

It handles entries only as messages and forwards no packets. It answers according to the P4Runtime
specification: arbitration by election id, CONTINUE_ON_ERROR writes with one status per update, wildcard
reads, default entries on request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf.any_pb2 import Any as AnyMessage  # a dependency of finsy; the well-known type is shared

Fault = Callable[[p4r.Update], tuple[int, str] | None]


class FakeSwitch(p4r_grpc.P4RuntimeServicer):
    """A switch. `fault(update)` may return (canonical code, message) to refuse an update.

    With `refuses_to_read_as`, it refuses to return its program, with this message.
    """

    def __init__(self, device_id: int, fault: Fault | None = None) -> None:
        self.device_id = device_id
        self.fault = fault
        self.config: p4r.ForwardingPipelineConfig | None = None
        self.entries: dict[bytes, p4r.TableEntry] = {}
        self.defaults: dict[int, p4r.TableEntry] = {}
        self.sessions: dict[int, p4r.Entity] = {}
        self.registers: dict[tuple[int, int], int] = {}
        self.counters: dict[tuple[int, int], tuple[int, int]] = {}
        self.updates: list[p4r.Update] = []
        self.pushes = 0
        self.refuse_registers = False
        self.refuses_to_read_as = ""
        self.refuses_to_reconcile = False
        self.largest_write = 0
        self.write_seconds = 0.0
        self._primary = 0
        self._streams: dict[int, object] = {}
        self._server: grpc.aio.Server | None = None
        self.address = ""

    async def __aenter__(self) -> FakeSwitch:
        # With SO_REUSEPORT, grpc's default, port 0 may select the port of another server here.
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        p4r_grpc.add_P4RuntimeServicer_to_server(self, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    # -- for tests ----------------------------------------------------------------------------------------

    def state(self) -> tuple[set[bytes], set[bytes]]:
        """Returns the whole state, to compare before and after."""
        return (
            {entry.SerializeToString(deterministic=True) for entry in self.entries.values()},
            {entry.SerializeToString(deterministic=True) for entry in self.defaults.values()},
        )

    # -- P4Runtime ----------------------------------------------------------------------------------------

    async def Capabilities(self, request, context):
        return p4r.CapabilitiesResponse(p4runtime_api_version="1.3.0")

    async def StreamChannel(self, request_iterator, context) -> AsyncIterator[p4r.StreamMessageResponse]:
        mine = 0
        try:
            async for request in request_iterator:
                mine = U128.decode(request.arbitration.election_id)
                if request.arbitration.device_id != self.device_id:
                    await context.abort(
                        grpc.StatusCode.NOT_FOUND, f"unknown device {request.arbitration.device_id}"
                    )
                if mine in self._streams:
                    mine = 0
                    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "Election id already exists")
                self._streams[mine] = context
                self._primary = max(self._primary, max(self._streams))
                code = (
                    rpc_code.OK
                    if mine == self._primary
                    else (rpc_code.ALREADY_EXISTS if self._primary in self._streams else rpc_code.NOT_FOUND)
                )
                yield p4r.StreamMessageResponse(
                    arbitration=p4r.MasterArbitrationUpdate(
                        device_id=self.device_id,
                        election_id=U128.encode(self._primary),
                        status=rpc_status.Status(code=code),
                    )
                )
        finally:
            self._streams.pop(mine, None)

    async def GetForwardingPipelineConfig(self, request, context):
        if self.refuses_to_read_as:
            await context.abort(grpc.StatusCode.INTERNAL, self.refuses_to_read_as)
        if request.device_id != self.device_id:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"unknown device {request.device_id}")
        if self.config is None:
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, "No forwarding pipeline config set for this device"
            )
        if request.response_type == p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY:
            return p4r.GetForwardingPipelineConfigResponse(
                config=p4r.ForwardingPipelineConfig(cookie=self.config.cookie)
            )
        return p4r.GetForwardingPipelineConfigResponse(config=self.config)

    async def SetForwardingPipelineConfig(self, request, context):
        await self._check_primary(request, context)
        keeps = request.action == p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT
        if keeps and self.refuses_to_reconcile:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "reconciling is not supported")
        self.pushes += 1
        self.config = request.config
        kept = self.defaults if keeps else {}
        if not keeps:
            self.entries.clear()
        self.defaults = {
            table.preamble.id: p4r.TableEntry(
                table_id=table.preamble.id,
                is_default_action=True,
                action=p4r.TableAction(action=_initial(table)),
            )
            for table in request.config.p4info.tables
        } | kept
        return p4r.SetForwardingPipelineConfigResponse()

    async def Write(self, request, context):
        await self._check_primary(request, context)
        await asyncio.sleep(self.write_seconds)
        self.largest_write = max(self.largest_write, len(request.updates))
        outcomes = [self._write_one(update) for update in request.updates]
        if any(code for code, _ in outcomes):
            status = rpc_status.Status(code=rpc_code.UNKNOWN, message="some updates failed")
            for code, message in outcomes:
                detail = AnyMessage()
                detail.Pack(p4r.Error(canonical_code=code, message=message))
                status.details.add().CopyFrom(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            await context.abort(grpc.StatusCode.UNKNOWN, "some updates failed")
        return p4r.WriteResponse()

    async def Read(self, request, context):
        found = []
        for entity in request.entities:
            match entity.WhichOneof("entity"):
                case "table_entry":
                    found += [p4r.Entity(table_entry=entry) for entry in self._tables(entity.table_entry)]
                case "counter_entry":
                    cell = entity.counter_entry
                    packets, size = self.counters.get((cell.counter_id, cell.index.index), (0, 0))
                    found.append(
                        p4r.Entity(
                            counter_entry=p4r.CounterEntry(
                                counter_id=cell.counter_id,
                                index=cell.index,
                                data=p4r.CounterData(packet_count=packets, byte_count=size),
                            )
                        )
                    )
                case "packet_replication_engine_entry":
                    found += self.sessions.values()
                case "register_entry" if not self.refuse_registers:
                    cell = entity.register_entry
                    value = self.registers.get((cell.register_id, cell.index.index), 0)
                    reply = p4r.RegisterEntry(register_id=cell.register_id, index=cell.index)
                    reply.data.bitstring = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
                    found.append(p4r.Entity(register_entry=reply))
                case kind:
                    await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{kind} reads are not supported yet")
        for start in range(0, len(found), 100):
            yield p4r.ReadResponse(entities=found[start : start + 100])

    async def _check_primary(self, request, context) -> None:
        if U128.decode(request.election_id) != self._primary:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not the primary")

    def _tables(self, wanted: p4r.TableEntry) -> list[p4r.TableEntry]:
        store = self.defaults if wanted.is_default_action else self.entries
        return [entry for entry in store.values() if wanted.table_id in (0, entry.table_id)]

    def _write_one(self, update: p4r.Update) -> tuple[int, str]:
        if self.fault is not None and (refusal := self.fault(update)) is not None:
            return refusal
        self.updates.append(update)
        if update.entity.HasField("packet_replication_engine_entry"):
            number = update.entity.packet_replication_engine_entry.clone_session_entry.session_id
            if update.type == p4r.Update.DELETE:
                del self.sessions[number]
            else:
                self.sessions[number] = update.entity
            return 0, ""
        entry = update.entity.table_entry
        if entry.is_default_action:
            self.defaults[entry.table_id] = entry
            return 0, ""
        key = p4r.TableEntry(table_id=entry.table_id, match=entry.match).SerializeToString(deterministic=True)
        exists = key in self.entries
        match update.type:
            case p4r.Update.INSERT if exists:
                return rpc_code.ALREADY_EXISTS, "the entry exists"
            case p4r.Update.MODIFY | p4r.Update.DELETE if not exists:
                return rpc_code.NOT_FOUND, "no such entry"
            case p4r.Update.DELETE:
                del self.entries[key]
            case _:
                self.entries[key] = entry
        return 0, ""


def _initial(table) -> p4r.Action:
    return p4r.Action(
        action_id=table.initial_default_action.action_id,
        params=[
            p4r.Action.Param(param_id=part.param_id, value=part.value.lstrip(b"\0") or b"\0")
            for part in table.initial_default_action.arguments
        ],
    )


class FakeFabric:
    """One fake switch for every switch of a topology."""

    def __init__(self, topology) -> None:
        self.switches = {name: FakeSwitch(switch.device_id) for name, switch in topology.switches.items()}

    async def __aenter__(self) -> FakeFabric:
        await asyncio.gather(*(switch.__aenter__() for switch in self.switches.values()))
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(switch.stop() for switch in self.switches.values()))

    @property
    def targets(self) -> dict[str, str]:
        return {name: switch.address for name, switch in self.switches.items()}

    def state(self) -> dict[str, object]:
        return {name: switch.state() for name, switch in self.switches.items()}
