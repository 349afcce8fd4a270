"""Arbitration between clients: election ids, roles, primaries (P4Runtime 1.5 §5).

The client with the highest election id ever received for its role is primary while its stream is open. When
it leaves, no other client is promoted: the others are notified, and one of them must send an id that is at
least as high.

Not thread-safe: the caller holds the device's lock, so that a write in progress ends before a new primary is
accepted. `roles` defines what a role may do; a role configuration is refused, because there is no agreed
scheme for it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from ..errors import StatusError, denied, exhausted, invalid, not_found, precondition
from ..messages import decode_u128, encode_u128, p4r, rpc_code
from . import roles
from .access import ANYBODY, Caller, Right
from .roles import DEFAULT, Role

# Limits on a device's clients and roles; a fabric controller and a few observers need only single digits.
MAX_STREAMS = 64
_MAX_ROLES = 64
# Maximum number of roles that the program does not name.
_MAX_STRANGE_ROLES = 32


@dataclass(eq=False)
class Client:
    """One open stream. `send` queues a `StreamMessageResponse` and never blocks; `end` ends the stream.
    `peer` is gRPC's name of its connection."""

    send: Callable[[p4r.StreamMessageResponse], None]
    end: Callable[[StatusError], None]
    caller: Caller = ANYBODY
    peer: str = ""
    role: Role | None = None
    election_id: int | None = None


class Arbitration:
    """The clients of one device."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id
        self._clients: list[Client] = []
        self._highest: dict[Role, int | None] = {DEFAULT: None}

    def update(
        self, client: Client, message: p4r.MasterArbitrationUpdate, known: Collection[str] = ()
    ) -> None:
        """Handles a `MasterArbitrationUpdate`. An error ends the client's stream. `known` are the roles that
        the program names: for them and the default role, places are reserved."""
        role = roles.of(message.role.name, message.role.id)
        election_id = decode_u128(message.election_id) if message.HasField("election_id") else None
        first = client.role is None
        if message.device_id != self._device_id:
            text = f"this is device {self._device_id}, the request is for device {message.device_id}"
            raise not_found(text) if first else precondition(text)
        if not first and role != client.role:
            raise precondition(f"this stream is for {client.role}, not for {role}; open another stream")
        if message.role.HasField("config"):
            kind = message.role.config.type_url or "without a type"
            raise invalid(
                f"{role}: role.config ({kind}) is not supported; leave it out, and give objects roles in the "
                'P4 program, with @p4runtime_role("name")'
            )
        client.caller.check(Right.READ if election_id is None else Right.WRITE, role)
        others = [other for other in self._clients if other is not client and other.role == role]
        if election_id is not None and any(other.election_id == election_id for other in others):
            raise invalid(f"Election id {election_id} is used by another client of this device and role")
        is_known = role == DEFAULT or role.name in known
        if role not in self._highest:
            self._check_roles(is_known, known)
        if first:
            highest = self._highest.get(role)
            leads = election_id is not None and (highest is None or election_id >= highest)
            self._make_room(is_primary_to_be=is_known and leads)
            self._clients.append(client)
            client.role = role
        was_primary = self.is_primary(client)
        before = self.primary(role)
        client.election_id = election_id
        highest = self._highest.setdefault(role, None)
        if election_id is not None and (highest is None or election_id >= highest):
            self._highest[role] = election_id
        if was_primary or self.primary(role) is not before:
            # Backups are notified first.
            for other in sorted(self._of(role), key=self.is_primary):
                self._notify(other)
        else:
            self._notify(client)

    def _check_roles(self, is_known: bool, known: Collection[str]) -> None:
        strange = sum(role != DEFAULT and role.name not in known for role in self._highest)
        if len(self._highest) >= _MAX_ROLES or (not is_known and strange >= _MAX_STRANGE_ROLES):
            raise exhausted(
                f"this device has seen {len(self._highest)} roles, {strange} of them not in its program; the "
                f"limits are {_MAX_ROLES} and {_MAX_STRANGE_ROLES}"
            )

    def _make_room(self, *, is_primary_to_be: bool) -> None:
        """Makes room for another client. A backup, the latest one, is removed only for a primary."""
        if len(self._clients) < MAX_STREAMS:
            return
        backups = [client for client in self._clients if not self.is_primary(client)]
        if not is_primary_to_be or not backups:
            raise exhausted(f"this device has {MAX_STREAMS} clients, the limit; close another stream")
        self._clients.remove(backups[-1])
        backups[-1].end(exhausted(f"this device has {MAX_STREAMS} clients; a primary took this place"))

    def leave(self, client: Client) -> None:
        if client not in self._clients:
            return
        was_primary = self.is_primary(client)
        self._clients.remove(client)
        if was_primary:
            for other in self._of(client.role or DEFAULT):
                self._notify(other)

    def primary(self, role: Role) -> Client | None:
        """Returns the client that may write in this role."""
        return next((client for client in self._of(role) if self.is_primary(client)), None)

    def primaries(self) -> list[Client]:
        """Returns the primary of every role that has one."""
        return [client for client in self._clients if self.is_primary(client)]

    def is_primary(self, client: Client) -> bool:
        if client.role is None or client.election_id is None:
            return False
        return client in self._clients and client.election_id == self._highest.get(client.role)

    def check_request(
        self,
        request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest,
        caller: Caller = ANYBODY,
        right: Right = Right.WRITE,
    ) -> Role:
        """Returns the role of a Write or SetForwardingPipelineConfig. Raises an error unless the request
        comes from the role's primary, and the client has this right."""
        self.check_device(request.device_id)
        role = roles.of(request.role, request.role_id)
        caller.check(right, role)
        if role not in self._highest:
            raise not_found(f"device {self._device_id} has no {role}; no client has opened a stream for it")
        primary = self.primary(role)
        election_id = decode_u128(request.election_id)
        if not request.HasField("election_id") or primary is None or primary.election_id != election_id:
            now = "it has no primary" if primary is None else f"election id {primary.election_id} is"
            raise denied(f"election id {election_id} is not the primary of {role}; {now}")
        if primary.caller.name != caller.name:
            raise denied(
                f"election id {election_id} belongs to client '{primary.caller.name}', not to '{caller.name}'"
            )
        return role

    def check_device(self, device_id: int) -> None:
        """Raises NOT_FOUND for another device."""
        if device_id != self._device_id:
            raise not_found(f"this is device {self._device_id}, the request is for device {device_id}")

    def _of(self, role: Role) -> list[Client]:
        return [client for client in self._clients if client.role == role]

    def _notify(self, client: Client) -> None:
        role = client.role or DEFAULT
        answer = p4r.MasterArbitrationUpdate(device_id=self._device_id)
        if role != DEFAULT:
            answer.role.name, answer.role.id = role
        highest = self._highest[role]
        if highest is not None:
            answer.election_id.CopyFrom(encode_u128(highest))
        if self.is_primary(client):
            answer.status.code, answer.status.message = rpc_code.OK, "this client is primary"
        elif self.primary(role) is not None:
            answer.status.code, answer.status.message = rpc_code.ALREADY_EXISTS, "another client is primary"
        else:
            answer.status.code, answer.status.message = rpc_code.NOT_FOUND, "no client is primary"
        client.send(p4r.StreamMessageResponse(arbitration=answer))
