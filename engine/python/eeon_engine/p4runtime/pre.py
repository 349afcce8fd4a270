"""The packet replication engine: multicast groups and clone sessions (P4Runtime 1.5 §9.5).

As in BMv2's own server, clone session n is a multicast group of its own, number 32768 + n, so that a session
can have several replicas; client groups keep to the lower half.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from finsy.proto import p4r

from ..control import Replica, SwitchControl
from ..exceptions import EngineError
from . import bytestrings
from .errors import already_exists, exhausted, invalid, not_found, unimplemented
from .journal import Journal

_FIRST_CLONE_GROUP = 32_768
_MAX_ID = 32_767
# v1model: egress_port has 9 bits, egress_rid has 16.
_PORT_BITS = 9
_MAX_INSTANCE = 65_535
# v1model: priority has 3 bits.
_MAX_CLASS = 7
# BMv2's table of level-2 nodes; also what one message can make the engine hold.
_MAX_REPLICAS = 4096


class ReplicationEngine:
    """Multicast groups and clone sessions of one switch."""

    def __init__(self, control: SwitchControl) -> None:
        self._control = control
        self._groups: dict[int, Any] = {}
        self._sessions: dict[int, Any] = {}

    def write(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `PacketReplicationEngineEntry`."""
        match message.WhichOneof("type"):
            case "multicast_group_entry":
                entry = message.multicast_group_entry
                books, apply, what = self._groups, self._apply_group, "multicast group"
                number = entry.multicast_group_id
            case "clone_session_entry":
                entry = message.clone_session_entry
                books, apply, what = self._sessions, self._apply_session, "clone session"
                number = entry.session_id
            case _:
                raise invalid(
                    "packet_replication_engine_entry: neither a multicast group nor a clone session is given"
                )
        _write(kind, books, number, entry, apply, what, journal)

    def _apply_group(self, number: int, entry: Any) -> None:
        if entry is None:
            self._control.mc_delete_group(number)
        else:
            self._control.mc_set_group(number, _replicas(entry, f"multicast group {number}"))

    def _apply_session(self, number: int, entry: Any) -> None:
        if entry is None:
            self._control.mirroring_session_delete(number)
            self._control.mc_delete_group(_FIRST_CLONE_GROUP + number)
            return
        what = f"clone session {number}"
        if entry.class_of_service > _MAX_CLASS:
            raise invalid(
                f"{what}: class_of_service {entry.class_of_service}; classes go from 0 to {_MAX_CLASS}"
            )
        if entry.packet_length_bytes < 0:
            raise invalid(f"{what}: packet_length_bytes {entry.packet_length_bytes} is negative")
        group, before = _FIRST_CLONE_GROUP + number, self._sessions.get(number)
        self._control.mc_set_group(group, _replicas(entry, what))
        try:
            self._control.mirroring_session_add(
                number, None, group, entry.class_of_service, entry.packet_length_bytes
            )
        except EngineError:
            if before is None:
                self._control.mc_delete_group(group)
            else:
                self._control.mc_set_group(group, _replicas(before, what))
            raise

    def read(self, message: Any) -> Iterator[Any]:
        """Groups or sessions that a request asks for; 0 stands for all, an empty request for both kinds."""
        kind = message.WhichOneof("type")
        if kind in (None, "multicast_group_entry"):
            for entry in _chosen(self._groups, message.multicast_group_entry.multicast_group_id):
                yield _entity(p4r.PacketReplicationEngineEntry(multicast_group_entry=entry))
        if kind in (None, "clone_session_entry"):
            for entry in _chosen(self._sessions, message.clone_session_entry.session_id):
                yield _entity(p4r.PacketReplicationEngineEntry(clone_session_entry=entry))


def _write(
    kind: int,
    books: dict[int, Any],
    number: int,
    entry: Any,
    apply: Callable[[int, Any], None],
    what: str,
    journal: Journal,
) -> None:
    if not 0 < number <= _MAX_ID:
        raise invalid(f"{what} {number}: ids go from 1 to {_MAX_ID}")
    before = books.get(number)
    if kind == p4r.Update.INSERT and before is not None:
        raise already_exists(f"{what} {number} is there already")
    if kind != p4r.Update.INSERT and before is None:
        raise not_found(f"{what} {number} is not there; insert it first")
    after = None
    if kind != p4r.Update.DELETE:
        after = type(entry)()
        after.CopyFrom(entry)
        for replica in after.replicas:
            if replica.port:
                # The shortest form, so that what is read compares equal to what a canonical client wrote.
                replica.port = replica.port.lstrip(b"\0") or b"\0"
    apply(number, after)
    _note(books, number, after)

    def undo() -> None:
        apply(number, before)
        _note(books, number, before)

    journal.push(undo)


def _note(books: dict[int, Any], number: int, entry: Any) -> None:
    if entry is None:
        books.pop(number, None)
    else:
        books[number] = entry


def _replicas(entry: Any, what: str) -> Sequence[Replica]:
    if len(entry.replicas) > _MAX_REPLICAS:
        raise exhausted(f"{what}: {len(entry.replicas)} replicas, the limit is {_MAX_REPLICAS}")
    replicas = [(_port(replica, what), replica.instance) for replica in entry.replicas]
    for _, instance in replicas:
        if instance > _MAX_INSTANCE:
            raise invalid(f"{what}: instance {instance}; instances go from 0 to {_MAX_INSTANCE}")
    if len(set(replicas)) != len(replicas):
        raise invalid(f"{what}: two replicas have the same port and instance")
    return replicas


def _port(replica: Any, what: str) -> int:
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


def _chosen(books: dict[int, Any], wanted: int) -> list[Any]:
    if wanted == 0:
        return [books[number] for number in sorted(books)]
    return [books[wanted]] if wanted in books else []


def _entity(entry: Any) -> Any:
    return p4r.Entity(packet_replication_engine_entry=entry)
