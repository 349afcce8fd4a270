"""Target: valid requests for a program, and mutations of them.

An input is a program and a sequence of batches, reads, packets, stream messages and delays. Entities are made
from the P4Info, and some are mutated as messages. After every batch, reads return what was written; after a
rolled-back batch, the state is as before; at the end, the switch accepts its program again and forwards.
"""

from typing import Any

from finsy.proto import p4r, rpc_code

from . import messages
from .draws import Draws
from .entities import Maker, Update
from .p4runtime_session import Refused, Session
from .readback import WrittenEntities, canonical
from .world import PROGRAMS, World, check_conservation, engine_state, no_bug_logged, require, traffic, world

_MAX_STEPS = 12
_MAX_UPDATES = 8
_PROOF_PORT = 3
_PROOF_PAYLOAD = bytes.fromhex("0200000000010200000000029999") + bytes(50)


def run(data: bytes) -> None:
    """Runs one input."""
    draws = Draws(data)
    chosen = world(draws.choice(PROGRAMS))
    with no_bug_logged(), Session(chosen.switch(), chosen.pipeline) as session:
        case = _Case(chosen, draws, session)
        for _ in range(_MAX_STEPS):
            if draws.is_over:
                break
            case.step()
        forwards(session, chosen)


def forwards(session: Session, world: World) -> None:
    """Requires that the switch accepts the program again, and that a packet-out leaves on its port."""
    switch = session.switch
    request = p4r.SetForwardingPipelineConfigRequest(
        action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT, config=world.pipeline.config
    )
    session.sign(request)
    session.set_pipeline(request)
    # Lets packets in flight arrive, including packets-out.
    switch.advance_to(switch.now_ps + 10**12)
    header = next(h for h in world.info.controller_packet_metadata if h.preamble.name == "packet_out")
    packet = p4r.PacketOut(payload=_PROOF_PAYLOAD)
    for field in header.metadata:
        packet.metadata.add(metadata_id=field.id, value=bytes([_PROOF_PORT if field.id == 1 else 0]))
    # Handled in this thread; over the stream, another thread would handle it later.
    client = session.device._arbitration.primaries()[0]
    session.device.stream_message(client, p4r.StreamMessageRequest(packet=packet))
    sent = switch.advance_to(switch.now_ps + 10**12)
    require([port for _, port, _ in sent] == [_PROOF_PORT], f"a packet-out left as {sent}")
    check_conservation(switch)


class _Case:
    """One switch, and its expected state."""

    def __init__(self, world: World, draws: Draws, session: Session) -> None:
        self.world = world
        self.session = session
        self._draws = draws
        self._maker = Maker(world, draws)
        self._written = WrittenEntities(world.info)
        self._past: list[Any] = []

    def step(self) -> None:
        """Performs one step: a read, traffic, a message on a stream, or a write."""
        match self._draws.randrange(8):
            case 0:
                self._read()
            case 1:
                traffic(self.world, self.session.switch, self._draws)
                self._written.forget()
                self.session.device.notify(self.session.switch.now_ps // 1000, 0)
                for packet in self.session.switch.take_packets_in(0):
                    self.session.device.packet_in(packet)
                check_conservation(self.session.switch)
            case 2:
                self._stream_message()
            case _:
                self._write()

    # ---- batches

    def _update(self) -> Update:
        draws = self._draws
        kind, made = self._maker.update()
        if self._past and draws.randrange(3) == 2:
            made = draws.choice(self._past)
        entity = p4r.Entity.FromString(made.SerializeToString())
        if draws.one_in(4):
            messages.change(entity, draws)
        self._past = [*self._past[-15:], entity]
        return 0 if draws.one_in(32) else kind, entity

    def _write(self) -> None:
        draws, session = self._draws, self.session
        request = p4r.WriteRequest(atomicity=draws.choice((0, 1, 2, 1, 2, 0, 0, 3)))
        for _ in range(1 + draws.randrange(_MAX_UPDATES)):
            kind, entity = self._update()
            request.updates.add(type=kind, entity=entity)
        session.sign(request)
        if draws.one_in(40):
            messages.change(request, draws)
        before = self._state() if request.atomicity else None
        try:
            codes = session.write(request)
        except Refused:
            codes = [rpc_code.ABORTED] * len(request.updates)
        if before is not None and any(codes):
            require(rpc_code.OK not in codes, f"a part of an atomic batch was done: {codes}")
            after = self._state()
            for kind, was in before.items():
                require(was == after[kind], f"taken back: {kind}: {was} became {after[kind]}")
        for update, code in zip(request.updates, codes, strict=True):
            if code == rpc_code.OK:
                self._written.note(update.type, update.entity)
                self._maker.note(update.type, update.entity)
        self._check_readback()

    def _state(self) -> dict[str, Any]:
        """Returns all state that can be read, and the engine's state."""
        plain = p4r.TableEntry(counter_data=p4r.CounterData(), meter_config=p4r.MeterConfig())
        default = p4r.TableEntry(is_default_action=True)
        default.MergeFrom(plain)
        found = self.session.read_all(
            p4r.Entity(table_entry=plain),
            p4r.Entity(table_entry=default),
            p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
            p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
            p4r.Entity(value_set_entry=p4r.ValueSetEntry()),
            p4r.Entity(digest_entry=p4r.DigestEntry()),
            p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry()),
        )
        state = engine_state(self.session.switch, self.world)
        state["read"] = [entity.SerializeToString(deterministic=True) for entity in found]
        return state

    def _check_readback(self) -> None:
        """Requires that reads return what was written, and all entries that the engine has."""
        for key, answer in self._written.expected():
            found = [canonical(entity) for entity in self.session.read_all(key)]
            require(found == ([] if answer is None else [answer]), f"{key} reads {found}, not {answer}")
        for table in self.world.info.tables:
            there = self.session.read_all(p4r.Entity(table_entry=p4r.TableEntry(table_id=table.preamble.id)))
            count = self.session.switch.mt_get_num_entries(table.preamble.name)
            require(len(there) == count, f"{table.preamble.name}: {len(there)} entries, engine {count}")

    # ---- other steps

    def _read(self) -> None:
        draws = self._draws
        request = p4r.ReadRequest(device_id=self.session.switch.device_id)
        for _ in range(1 + draws.randrange(3)):
            request.entities.append(self._update()[1])
        if draws.one_in(40):
            messages.change(request, draws)
        try:
            self.session.read(request)
        except Refused:
            return

    def _stream_message(self) -> None:
        draws = self._draws
        message = p4r.StreamMessageRequest()
        match draws.randrange(3):
            case 0:
                message.packet.payload = _PROOF_PAYLOAD[: draws.randrange(64)]
                for field_id in (1, 2):
                    message.packet.metadata.add(metadata_id=field_id, value=draws.bytes(1) or b"\0")
            case 1:
                digests = [0, *(item.preamble.id for item in self.world.info.digests)]
                message.digest_ack.digest_id = draws.choice(digests)
                message.digest_ack.list_id = draws.randrange(4)
            case _:
                message.other.SetInParent()
        messages.change(message, draws)
        if message.WhichOneof("update") != "arbitration":
            client = self.session.device._arbitration.primaries()[0]
            self.session.device.stream_message(client, message)
