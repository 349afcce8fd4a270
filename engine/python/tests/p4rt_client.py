"""A P4Runtime client with plain messages and with names from the P4Info. For tests only.

Independent of the server: it uses only the message classes of `finsy`, and searches the P4Info for names.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pytest
from finsy.proto import U128, p4d, p4i, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import text_format

PROGRAMS = Path(__file__).parent / "programs"
PATCH = Path(__file__).resolve().parents[2] / "live" / "tests" / "p4" / "patch.json"
"""The program of a patch panel, for switches in real time."""

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
COMMIT = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT


def _path(name: str) -> Path:
    return PATCH if name == "patch" else PROGRAMS / f"{name}.json"


def program_json(name: str = "everything") -> bytes:
    return _path(name).read_bytes()


@cache
def _p4info(name: str) -> Any:
    return text_format.Parse(_path(name).with_suffix(".p4info.txtpb").read_text(), p4i.P4Info())


def p4info(name: str = "everything") -> Any:
    """Returns a P4Info that the caller may change."""
    info = p4i.P4Info()
    info.CopyFrom(_p4info(name))
    return info


def pipeline(name: str = "everything", info: Any = None) -> Any:
    """Returns the forwarding pipeline config of a test program, with its P4Info or another."""
    return p4r.ForwardingPipelineConfig(p4info=info or p4info(name), p4_device_config=program_json(name))


def without_struct(info: Any, program: bytes, *, in_program: str = "tuple_0") -> bytes:
    """Makes the digest of `resources` one of a tuple, to which p4c gives two names; returns the program."""
    [digest] = info.digests
    digest.preamble.name = digest.preamble.alias = "digest_0"
    members = [member.type_spec for member in info.type_info.structs["learned_t"].members]
    digest.type_spec.tuple.members.extend(members)
    return program.replace(b'"learned_t"', f'"{in_program}"'.encode())


class Names:
    """Ids by alias, from a search of the P4Info."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.ids = {
            item.preamble.alias: item.preamble.id
            for _, items in info.ListFields()
            if hasattr(items, "add")
            for item in items
        }

    def __getitem__(self, alias: str) -> int:
        return self.ids[alias]

    def action(self, alias: str, *values: int) -> Any:
        """Returns an action with its parameters in order."""
        action = p4r.Action(action_id=self[alias])
        for number, value in enumerate(values, 1):
            action.params.add(param_id=number, value=number_bytes(value))
        return action

    def entry(self, table: str, *match: Any, action: Any = None, priority: int = 0, **fields: Any) -> Any:
        """Returns a table entry; `action` is an `Action` or a `TableAction`."""
        entry = p4r.TableEntry(table_id=self[table], match=match, priority=priority, **fields)
        if isinstance(action, p4r.Action):
            entry.action.action.CopyFrom(action)
        elif action is not None:
            entry.action.CopyFrom(action)
        return entry


def admit_all(names: Names) -> tuple[int, Any]:
    """Returns the update that makes the E-EON program route frames to any MAC, without `l3_admit` entries."""
    admit = names.action("admit_to_l3")
    return MODIFY, names.entry("l3_admit", action=admit, is_default_action=True)


def number_bytes(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def exact(field: int, value: int) -> Any:
    return p4r.FieldMatch(field_id=field, exact=p4r.FieldMatch.Exact(value=number_bytes(value)))


def lpm(field: int, value: int, length: int) -> Any:
    return p4r.FieldMatch(
        field_id=field, lpm=p4r.FieldMatch.LPM(value=number_bytes(value), prefix_len=length)
    )


def one_shot(*actions: tuple[Any, int]) -> Any:
    """Returns a one-shot action set of actions with weights."""
    set_ = p4r.ActionProfileActionSet()
    for action, weight in actions:
        set_.action_profile_actions.add(action=action, weight=weight)
    return p4r.TableAction(action_profile_action_set=set_)


def bits(value: int) -> Any:
    return p4d.P4Data(bitstring=number_bytes(value))


class Failed(Exception):
    """A call that ended with an error: `code`, `message`, and for a Write the `(code, message)` of each
    update.
    """

    def __init__(self, error: grpc.RpcError) -> None:
        super().__init__(error.details())
        self.code: int = error.code().value[0]
        self.message: str = error.details() or ""
        self.updates: list[tuple[int, str]] = []
        for key, value in error.trailing_metadata() or ():
            # PI also sends details with other errors, but without items.
            if key == "grpc-status-details-bin":
                status = rpc_status.Status.FromString(value)
                assert status.code == self.code
                assert self.code == rpc_code.UNKNOWN or not status.details
                for detail in status.details:
                    assert detail.type_url == "type.googleapis.com/p4.v1.Error"
                    one = p4r.Error.FromString(detail.value)
                    self.updates.append((one.canonical_code, one.message))


class Client:
    """A client of one server."""

    def __init__(
        self,
        address: str,
        device_id: int = 1,
        election_id: int = 1,
        role: str = "",
        stream_timeout_s: float = 120,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        options = [("grpc.max_metadata_size", 1 << 20), ("grpc.use_local_subchannel_pool", 1)]
        if credentials is None:
            self.channel = grpc.insecure_channel(address, options=options)
        else:
            self.channel = grpc.secure_channel(address, credentials, options=options)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self.device_id, self.election_id, self.role = device_id, election_id, role
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # With a timeout, so that a test fails if it waits for a message that does not arrive.
        self.stream = self.stub.StreamChannel(iter(self._requests.get, None), timeout=stream_timeout_s)

    def close(self) -> None:
        self._requests.put(None)
        self.stream.cancel()
        self.channel.close()

    # ---- stream

    def send(self, **message: Any) -> None:
        self._requests.put(p4r.StreamMessageRequest(**message))

    def receive(self) -> Any:
        try:
            return next(self.stream)
        except grpc.RpcError as error:
            raise Failed(error) from None

    def arbitrate(self, election_id: int | None = None, **fields: Any) -> Any:
        """Sends an election id (by default, this client's), and returns the answer."""
        self.election_id = self.election_id if election_id is None else election_id
        update = p4r.MasterArbitrationUpdate(
            device_id=self.device_id, election_id=U128.encode(self.election_id), **fields
        )
        if self.role:
            update.role.name = self.role
        self.send(arbitration=update)
        return self.receive().arbitration

    # ---- calls

    def _call(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except grpc.RpcError as error:
            raise Failed(error) from None

    def push(self, action: int, config: Any = None, **fields: Any) -> None:
        """Calls SetForwardingPipelineConfig."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=U128.encode(self.election_id),
            action=action,
            config=config,
            **fields,
        )
        self._call(lambda: self.stub.SetForwardingPipelineConfig(request))

    def pipeline(self, response_type: int = 0) -> Any:
        """Calls GetForwardingPipelineConfig."""
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.device_id, response_type=response_type
        )
        return self._call(lambda: self.stub.GetForwardingPipelineConfig(request)).config

    def write(self, *updates: tuple[int, Any], atomicity: int = 0, **fields: Any) -> None:
        """Writes (kind, entity) pairs; raises `Failed`."""
        request = p4r.WriteRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=U128.encode(self.election_id),
            atomicity=atomicity,
            updates=[p4r.Update(type=kind, entity=entity_of(entity)) for kind, entity in updates],
        )
        for name, value in fields.items():
            setattr(request, name, value)
        self._call(lambda: self.stub.Write(request))

    def read(self, *entities: Any, role: str = "") -> list[Any]:
        """Returns the response to a Read, unwrapped from its `Entity`s."""
        found, failed = self.read_some(*entities, role=role)
        if failed is not None:
            raise failed
        return found

    def read_some(self, *entities: Any, role: str = "") -> tuple[list[Any], Failed | None]:
        """Returns the response to a Read before it fails, and the failure."""
        request = p4r.ReadRequest(
            device_id=self.device_id, role=role, entities=[entity_of(entity) for entity in entities]
        )
        found: list[Any] = []
        try:
            for response in self.stub.Read(request):
                found += [getattr(entity, entity.WhichOneof("entity")) for entity in response.entities]
        except grpc.RpcError as error:
            return found, Failed(error)
        return found, None

    def state(self) -> list[Any]:
        """Returns all state that can be read."""
        resources = {"counter_data": p4r.CounterData(), "meter_config": p4r.MeterConfig()}
        return self.read(
            p4r.TableEntry(**resources),
            p4r.TableEntry(is_default_action=True, **resources),
            p4r.ActionProfileMember(),
            p4r.ActionProfileGroup(),
            p4r.CounterEntry(),
            p4r.MeterEntry(),
            p4r.DirectMeterEntry(),
            p4r.RegisterEntry(),
            p4r.ValueSetEntry(),
            p4r.DigestEntry(),
            p4r.PacketReplicationEngineEntry(),
        )

    def read_refused(self, *entities: Any) -> Failed:
        failed = self.read_some(*entities)[1]
        assert failed is not None, "the read was accepted"
        return failed

    def refused(self, *updates: tuple[int, Any], **fields: Any) -> Failed:
        try:
            self.write(*updates, **fields)
        except Failed as failed:
            return failed
        raise AssertionError("the write was accepted")


Connect = Callable[..., Client]


@contextlib.contextmanager
def primary(address: str, config: Any = None, **settings: Any) -> Iterator[Client]:
    """Connects a primary client until the block ends; it pushes the config, if there is one."""
    with contextlib.closing(Client(address, **settings)) as client:
        client.arbitrate()
        if config is not None:
            client.push(COMMIT, config)
        yield client


@contextlib.contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Repeats some work in a thread until the block ends."""
    stopping = threading.Event()

    def repeat() -> None:
        while not stopping.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def failure(code: int, match: str, call: Callable[..., object], *arguments: Any, **fields: Any) -> Failed:
    """Returns the failure of a call, which must have this code and a message that matches."""
    with pytest.raises(Failed, match=match or None) as caught:
        call(*arguments, **fields)
    assert caught.value.code == code, caught.value
    return caught.value


_FIELDS = {
    field.message_type.name: field.name
    for field in p4r.Entity.DESCRIPTOR.fields
    if field.message_type is not None
}


def entity_of(entity: Any) -> Any:
    """Returns an `Entity` around one of its kinds."""
    kind = type(entity).DESCRIPTOR.name
    if kind == "Entity":
        return entity
    if kind in ("MulticastGroupEntry", "CloneSessionEntry"):
        field = "multicast_group_entry" if kind == "MulticastGroupEntry" else "clone_session_entry"
        entity = p4r.PacketReplicationEngineEntry(**{field: entity})
        kind = "PacketReplicationEngineEntry"
    return p4r.Entity(**{_FIELDS[kind]: entity})


def codes(failed: Failed) -> list[int]:
    return [code for code, _ in failed.updates]


def ports(sent: Iterable[tuple[int, int, bytes]]) -> list[int]:
    """Returns the ports on which frames left."""
    return [port for _, port, _ in sent]
