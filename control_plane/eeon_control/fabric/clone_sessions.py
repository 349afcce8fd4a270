"""The clone session of copies as an entry, so that plans, journals and undo treat it like any other.

Only the session `COPY_SESSION` is the controller's; others are neither read nor changed.
"""

from finsy.proto import p4r

from eeon_control import constants
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.plan import Action, Entry, Exact


def wildcard() -> p4r.Entity:
    """Returns a read request for all clone sessions, so that a missing one is not an error."""
    entity = p4r.Entity()
    entity.packet_replication_engine_entry.clone_session_entry.SetInParent()
    return entity


def encode(entry: Entry) -> p4r.Entity:
    """Returns the P4Runtime message of the session (P4Runtime specification 1.3, section 9.5.2)."""
    entity = p4r.Entity()
    session = entity.packet_replication_engine_entry.clone_session_entry
    session.session_id = entry.match[0].value
    for action in entry.actions:
        params = dict(action.params)
        session.packet_length_bytes = params.get("packet_length_bytes", 0)
        session.class_of_service = params.get("class_of_service", 0)
        session.replicas.add(egress_port=params["port"], instance=params.get("instance", 0))
    return entity


def decode(entity: p4r.Entity) -> Entry | None:
    """Returns the entry of a reported session; None if it is not the controller's."""
    session = entity.packet_replication_engine_entry.clone_session_entry
    if session.session_id != constants.COPY_SESSION:
        return None
    shared = {
        "packet_length_bytes": session.packet_length_bytes,
        "class_of_service": session.class_of_service,
    }
    actions = []
    for replica in session.replicas:
        port = replica.egress_port or int.from_bytes(replica.port, "big")
        params = {"port": port, "instance": replica.instance} | shared
        # Parameters that are 0 are omitted, as in the intended entry.
        said = tuple((name, value) for name, value in params.items() if value or name == "port")
        actions.append(Action("clone_to", said))
    return Entry(CLONE_SESSIONS, (Exact("session", session.session_id),), tuple(sorted(actions)))
