"""The packet replication engine: multicast groups and clone sessions (P4Runtime 1.5 §9.5).

As in BMv2's own server, a client's clone session n has its own multicast group, 32768 + n, so that a session
can have several replicas; groups of clients use the lower half. No state is kept here. Groups and sessions
made over Thrift can be read as well: a group with its copies, and a session with its port and with the copies
of its group. Session 0, which P4Runtime cannot name, is read as 32768. Groups above 32767 that belong to no
client's session can be read but not written.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from ..._engine import SwitchHandle
from ...values import McCopies, Replica, Session
from .. import bytestrings
from ..errors import already_exists, exhausted, invalid, not_found, unimplemented
from ..messages import p4r
from . import chunks
from .chunks import Chunk

_FIRST_CLONE_GROUP = 32_768
_MAX_ID = 32_767
# The id of Thrift's session 0 here.
_SESSION_0 = _MAX_ID + 1
# v1model: egress_port has 9 bits, egress_rid has 16.
_PORT_BITS = 9
_MAX_INSTANCE = 65_535
# v1model: priority has 3 bits.
_MAX_CLASS = 7
# Size of BMv2's table of level-2 nodes; also limits the memory that one message can make the engine use.
_MAX_REPLICAS = 4096


class ReplicationEngine:
    def __init__(self, control: SwitchHandle) -> None:
        self._control = control

    def write(self, kind: int, message: p4r.PacketReplicationEngineEntry) -> None:
        match message.WhichOneof("type"):
            case "multicast_group_entry":
                self._write_group(kind, message.multicast_group_entry)
            case "clone_session_entry":
                self._write_session(kind, message.clone_session_entry)
            case _:
                raise invalid(
                    "packet_replication_engine_entry: neither a multicast group nor a clone session is given"
                )

    def _write_group(self, kind: int, entry: p4r.MulticastGroupEntry) -> None:
        number = entry.multicast_group_id
        what = f"multicast group {number}"
        _check_id(what, number, _MAX_ID)
        _check_there(what, kind, bool(self._control.mc_groups(number)))
        if kind == p4r.Update.DELETE:
            self._control.mc_delete_group(number)
            return
        note = p4r.MulticastGroupEntry(metadata=entry.metadata, replicas=_by_number(entry.replicas))
        self._control.mc_set_group(number, _replicas(entry.replicas, what), note.SerializeToString())

    def _write_session(self, kind: int, entry: p4r.CloneSessionEntry) -> None:
        what = f"clone session {entry.session_id}"
        _check_id(what, entry.session_id, _SESSION_0 if kind != p4r.Update.INSERT else _MAX_ID)
        number = entry.session_id % _SESSION_0
        _check_there(what, kind, bool(self._control.mirroring_sessions(number)))
        group = _FIRST_CLONE_GROUP + number
        if kind == p4r.Update.DELETE:
            self._control.mirroring_session_delete(number)
            if self._control.mc_groups(group):
                self._control.mc_delete_group(group)
            return
        if entry.class_of_service > _MAX_CLASS:
            raise invalid(f"{what}: class_of_service {entry.class_of_service}; classes are 0 to {_MAX_CLASS}")
        if entry.packet_length_bytes < 0:
            raise invalid(f"{what}: packet_length_bytes {entry.packet_length_bytes} is negative")
        note = p4r.CloneSessionEntry(replicas=_by_number(entry.replicas))
        self._control.mc_set_group(group, _replicas(entry.replicas, what), note.SerializeToString())
        self._control.mirroring_session_add(
            number, None, group, entry.class_of_service, entry.packet_length_bytes
        )

    def read(self, message: p4r.PacketReplicationEngineEntry) -> Iterator[Chunk]:
        """Yields the groups or sessions that are asked for; 0 stands for all, an empty request for both."""
        kind = message.WhichOneof("type")
        if kind in (None, "multicast_group_entry"):
            wanted = message.multicast_group_entry.multicast_group_id
            of_sessions = {mgid for _, _, mgid, *_ in self._control.mirroring_sessions()}
            for number, copies, note in self._groups(wanted):
                if number <= _MAX_ID or number not in of_sessions:
                    yield Chunk(1 + len(copies), partial(_group_entities, number, copies, note))
        if kind in (None, "clone_session_entry"):
            wanted = message.clone_session_entry.session_id
            if wanted > _SESSION_0:
                return
            found = self._control.mirroring_sessions(wanted % _SESSION_0 if wanted else None)
            for session in sorted(found, key=lambda session: session[0] or _SESSION_0):
                entry = p4r.PacketReplicationEngineEntry(clone_session_entry=self._session(session))
                yield chunks.one(partial(p4r.Entity, packet_replication_engine_entry=entry))

    def _groups(self, wanted: int) -> list[McCopies]:
        if wanted > _FIRST_CLONE_GROUP + _MAX_ID:
            return []
        return self._control.mc_groups(wanted or None)

    def _session(self, session: Session) -> p4r.CloneSessionEntry:
        number, port, mgid, class_of_service, max_bytes = session
        entry = p4r.CloneSessionEntry(
            session_id=number or _SESSION_0, class_of_service=class_of_service, packet_length_bytes=max_bytes
        )
        if port is not None:
            entry.replicas.add(port=bytestrings.encode(port))
        for _, copies, note in self._control.mc_groups(mgid) if mgid is not None else ():
            own = mgid == _FIRST_CLONE_GROUP + number
            given = p4r.CloneSessionEntry.FromString(note).replicas if own else ()
            entry.replicas.extend(_shown(copies, given))
        return entry


def _check_id(what: str, number: int, maximum: int) -> None:
    if not 0 < number <= maximum:
        raise invalid(f"{what}: ids are 1 to {maximum}")


def _check_there(what: str, kind: int, is_there: bool) -> None:
    if kind == p4r.Update.INSERT and is_there:
        raise already_exists(f"{what} already exists")
    if kind != p4r.Update.INSERT and not is_there:
        raise not_found(f"{what} does not exist; insert it first")


def _by_number(replicas: Sequence[p4r.Replica]) -> list[p4r.Replica]:
    """Returns the replicas whose port is given as a number, a deprecated form in P4Runtime. They are stored
    to be read back as written."""
    return [
        p4r.Replica(egress_port=replica.egress_port, instance=replica.instance)
        for replica in replicas
        if replica.WhichOneof("port_kind") == "egress_port"
    ]


def _shown(copies: Sequence[Replica], by_number: Sequence[p4r.Replica]) -> Iterator[p4r.Replica]:
    numbered = {(replica.egress_port, replica.instance) for replica in by_number}
    for port, instance in copies:
        if (port, instance) in numbered:
            yield p4r.Replica(egress_port=port, instance=instance)
        else:
            yield p4r.Replica(port=bytestrings.encode(port), instance=instance)


def _replicas(replicas: Sequence[p4r.Replica], what: str) -> list[Replica]:
    if len(replicas) > _MAX_REPLICAS:
        raise exhausted(f"{what}: {len(replicas)} replicas, the limit is {_MAX_REPLICAS}")
    found = [(_port(replica, what), replica.instance) for replica in replicas]
    for _, instance in found:
        if instance > _MAX_INSTANCE:
            raise invalid(f"{what}: instance {instance}; instances are 0 to {_MAX_INSTANCE}")
    if len(set(found)) != len(found):
        raise invalid(f"{what}: two replicas have the same port and instance")
    return found


def _port(replica: p4r.Replica, what: str) -> int:
    if len(replica.backup_replicas) > 0:
        raise unimplemented(f"{what}: backup_replicas are not supported")
    match replica.WhichOneof("port_kind"):
        case "port":
            return bytestrings.decode(replica.port, _PORT_BITS, f"{what}: port", invalid)
        case "egress_port":
            if replica.egress_port >> _PORT_BITS:
                raise invalid(f"{what}: port {replica.egress_port}; ports have {_PORT_BITS} bits")
            return int(replica.egress_port)
    raise invalid(f"{what}: a replica has no port")


def _group_entities(number: int, copies: Sequence[Replica], note: bytes) -> Iterator[p4r.Entity]:
    kept = p4r.MulticastGroupEntry.FromString(note)
    entry = p4r.MulticastGroupEntry(
        multicast_group_id=number, metadata=kept.metadata, replicas=_shown(copies, kept.replicas)
    )
    whole = p4r.PacketReplicationEngineEntry(multicast_group_entry=entry)
    yield p4r.Entity(packet_replication_engine_entry=whole)
