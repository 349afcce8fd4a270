"""One switch for P4Runtime: clients, pipeline, state. The RPCs of `service` are thin wrappers around it.

One lock orders all operations: writes are serialized, a read sees no partial batch, and a new primary is
accepted only between writes. Packets do not take the lock: the engine is paused for a batch, the first part
of a read, and a new program.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from google.protobuf.message import Message

from .._engine import Program, Switch, SwitchHandle
from ..exceptions import EngineError
from . import batch, packet_io, reconcile
from .clients import roles
from .clients.access import ANYBODY, Caller, Right
from .clients.arbitration import Arbitration, Client
from .entities.forwarding import Forwarding
from .errors import StatusError, denied, invalid, not_found, precondition, unimplemented
from .messages import p4r, rpc_code
from .program.pipeline import Pipeline
from .reading import Reading


class Device:
    """A switch with its clients."""

    def __init__(self, control: SwitchHandle, pipeline: Pipeline | None) -> None:
        self._control = control
        self._lock = threading.RLock()
        self.noticing = threading.Event()
        """Set while `notify` may have something to send."""
        self.primary_peers: frozenset[str] = frozenset()
        """Connections of the primaries of the default role and of roles that the program names. The set is
        replaced as a whole, for readers without the lock."""
        self._arbitration = Arbitration(control.device_id)
        self._pipeline = pipeline
        self._forwarding = Forwarding(control, pipeline.schema) if pipeline else None
        # After VERIFY_AND_SAVE: the state that reads and writes use until COMMIT, on a temporary switch.
        self._saved: tuple[Pipeline, SwitchHandle, Forwarding] | None = None
        self._look_for_notices()

    # ---- stream

    def stream_message(self, client: Client, message: p4r.StreamMessageRequest) -> None:
        """Handles one message of a client's stream. An error ends the stream."""
        with self._lock:
            match message.WhichOneof("update"):
                case "arbitration":
                    self._arbitration.update(client, message.arbitration, self._known_roles())
                    self._note_primaries()
                case _ if client.role is None:
                    raise precondition("the first message of a stream must be a MasterArbitrationUpdate")
                case "packet":
                    self._packet_out(client, message.packet)
                case "digest_ack":
                    self._digest_ack(client, message.digest_ack)
                case "other":
                    error = unimplemented("stream messages of type `other` are not supported")
                    client.send(_stream_error(error, other=p4r.StreamOtherError(other=message.other)))
                case _:
                    client.send(_stream_error(invalid("the stream message is empty")))

    def _known_roles(self) -> set[str]:
        if self._pipeline is None:
            return set()
        schema = self._pipeline.schema
        named = {*schema.owners.values(), schema.packet_in_owner, schema.packet_out_owner}
        return {role for role in named if role}

    def leave(self, client: Client) -> None:
        with self._lock:
            self._arbitration.leave(client)
            self._note_primaries()

    def _note_primaries(self) -> None:
        known = self._known_roles()
        self.primary_peers = frozenset(
            client.peer
            for client in self._arbitration.primaries()
            if client.role is not None and (client.role == roles.DEFAULT or client.role.name in known)
        )

    def _packet_out(self, client: Client, packet: p4r.PacketOut) -> None:
        try:
            if not self._arbitration.is_primary(client):
                raise denied("packet_out: only the primary may send packets")
            if self._pipeline is None:
                raise _no_pipeline()
            owner = self._pipeline.schema.packet_out_owner
            if client.role is None or not roles.in_scope(owner, client.role):
                raise denied(f"packet_out: packets belong to role '{owner}', the client has {client.role}")
            if self._control.cpu_port is None:
                raise unimplemented("packet_out: this switch has no CPU port")
            self._control.packet_out(packet_io.packet_out(self._pipeline.schema, packet))
        except StatusError as error:
            client.send(_stream_error(error, packet_out=p4r.PacketOutError(packet_out=packet)))

    def _digest_ack(self, client: Client, ack: p4r.DigestListAck) -> None:
        try:
            if not self._arbitration.is_primary(client):
                raise denied("digest_ack: only the primary may acknowledge digests")
            if self._forwarding is None:
                raise _no_pipeline()
            self._forwarding.digests.acknowledge(ack)
        except StatusError as error:
            client.send(_stream_error(error, digest_list_ack=p4r.DigestListAckError(digest_list_ack=ack)))

    def notify(self, now_ns: int, epoch_ns: int) -> None:
        """Sends due notifications: digest lists, and entries whose idle timeout has expired.

        `now_ns` is from a monotonic clock; `epoch_ns` is the time in the messages.
        """
        with self._lock:
            if self._forwarding is None:
                return
            owners = self._forwarding.schema.owners
            for digest_list in self._forwarding.digest_lists(now_ns, epoch_ns):
                message = p4r.StreamMessageResponse(digest=digest_list)
                self._notify(owners.get(digest_list.digest_id), message)
            for table, entries in self._forwarding.tables.expired():
                expired = p4r.IdleTimeoutNotification(table_entry=entries, timestamp=epoch_ns)
                message = p4r.StreamMessageResponse(idle_timeout_notification=expired)
                self._notify(owners.get(table.id), message)

    def packet_in(self, packet: bytes) -> None:
        """Sends a packet that left the switch on the CPU port to every primary whose role has packets."""
        with self._lock:
            if self._pipeline is None:
                return
            schema = self._pipeline.schema
            message = packet_io.packet_in(schema, packet)
            if message is not None:
                self._notify(schema.packet_in_owner, p4r.StreamMessageResponse(packet=message))

    def _notify(self, owner: str | None, message: p4r.StreamMessageResponse) -> None:
        for client in self._arbitration.primaries():
            if client.role is not None and roles.in_scope(owner, client.role):
                client.send(message)

    # ---- pipeline

    def set_pipeline(self, request: p4r.SetForwardingPipelineConfigRequest, caller: Caller = ANYBODY) -> None:
        """Sets the pipeline for the default role's primary, because all roles share a program (§5.1)."""
        actions = p4r.SetForwardingPipelineConfigRequest
        with self._lock:
            role = self._arbitration.check_request(request, caller, Right.PIPELINE)
            if role != roles.DEFAULT:
                raise denied(f"the pipeline belongs to the default role, the client has {role}")
            if request.action == actions.COMMIT:
                if request.HasField("config"):
                    raise invalid("COMMIT uses the saved config; send the request without one")
                self._commit_saved()
                return
            if request.action not in (
                actions.VERIFY,
                actions.VERIFY_AND_SAVE,
                actions.VERIFY_AND_COMMIT,
                actions.RECONCILE_AND_COMMIT,
            ):
                raise invalid(f"unknown pipeline action {request.action}; use VERIFY, VERIFY_AND_COMMIT, ...")
            if not request.HasField("config"):
                raise invalid("the request has no config")
            pipeline = Pipeline.from_config(request.config)
            try:
                self._control.check_program(pipeline.program)
            except EngineError as error:
                raise invalid(f"p4_device_config: {error}") from error
            if request.action == actions.VERIFY:
                return
            if request.action == actions.VERIFY_AND_COMMIT:
                self._commit(pipeline, [])
            elif request.action == actions.VERIFY_AND_SAVE:
                shadow = self._shadow(pipeline.program)
                self._saved = (pipeline, shadow, Forwarding(shadow, pipeline.schema))
            else:
                self._reconcile(pipeline)

    def _commit(self, pipeline: Pipeline, updates: list[p4r.Update]) -> None:
        """Replaces the program and all state. A temporary switch has already accepted `updates`.

        The switch itself may still refuse a class of service for which it has no queue: the rest is then
        committed, and INVALID_ARGUMENT names the missing parts.
        """
        refused = []
        self._control.pause()
        try:
            self._control.load_program(pipeline.program)
            # Multicast groups and clone sessions outlive the program.
            self._control.reset_state()
            for number, *_ in self._control.mirroring_sessions():
                self._control.mirroring_session_delete(number)
            forwarding = Forwarding(self._control, pipeline.schema)
            with batch.undisturbed(self._control):
                for update in updates:
                    try:
                        forwarding.write(update)
                    except StatusError as error:
                        refused.append(error.message)
        finally:
            self._control.resume()
        self._pipeline, self._forwarding, self._saved = pipeline, forwarding, None
        self._look_for_notices()
        if refused:
            raise invalid(
                f"the program is committed, but this switch refused {len(refused)} of the {len(updates)} "
                f"writes that were saved for it: {refused[0]}"
            )

    def _look_for_notices(self) -> None:
        if self._forwarding is not None and self._forwarding.has_notices:
            self.noticing.set()
        else:
            self.noticing.clear()

    def _commit_saved(self) -> None:
        if self._saved is None:
            raise not_found("no config is saved; send one with VERIFY_AND_SAVE first")
        pipeline, shadow, forwarding = self._saved
        with batch.undisturbed(shadow):
            updates = reconcile.snapshot(forwarding)
        self._commit(pipeline, updates)

    def _reconcile(self, pipeline: Pipeline) -> None:
        """Keeps the switch's state under the new program, or refuses without a change."""
        present = self._forwarding
        with batch.undisturbed(self._control) if present else nullcontext():
            updates = reconcile.snapshot(present) if present else []
        schema = present.schema if present else pipeline.schema
        shadow = self._shadow(pipeline.program)
        with batch.undisturbed(shadow):
            kept = reconcile.kept(updates, schema, Forwarding(shadow, pipeline.schema))
        self._commit(pipeline, kept)

    @staticmethod
    def _shadow(program: Program) -> SwitchHandle:
        # With all classes of service of v1model, because the switch's number of queues is unknown here.
        return Switch(program, priorities=8)

    def get_pipeline(
        self, request: p4r.GetForwardingPipelineConfigRequest, caller: Caller = ANYBODY
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Answers `GetForwardingPipelineConfig`, for every role."""
        kinds = p4r.GetForwardingPipelineConfigRequest
        with self._lock:
            self._arbitration.check_device(request.device_id)
            caller.check_right(Right.READ)
            pipeline, *_ = self._saved or (self._pipeline,)
            if pipeline is None:
                raise _no_pipeline()
            config = p4r.ForwardingPipelineConfig()
            if pipeline.config.HasField("cookie"):
                config.cookie.CopyFrom(pipeline.config.cookie)
            if request.response_type in (kinds.ALL, kinds.P4INFO_AND_COOKIE):
                config.p4info.CopyFrom(pipeline.config.p4info)
            if request.response_type in (kinds.ALL, kinds.DEVICE_CONFIG_AND_COOKIE):
                config.p4_device_config = pipeline.config.p4_device_config
            return p4r.GetForwardingPipelineConfigResponse(config=config)

    # ---- entities

    def write(self, request: p4r.WriteRequest, caller: Caller = ANYBODY) -> list[StatusError | None]:
        """Applies the updates, and returns the error of each; None for success."""
        with self._lock:
            role = self._arbitration.check_request(request, caller)
            control, forwarding = self._current()
            results = batch.write(control, forwarding, role, request.updates, request.atomicity)
            self._look_for_notices()
            return results

    def read(self, request: p4r.ReadRequest, caller: Caller = ANYBODY) -> Reading:
        """Returns the response to a read, which is produced while it is sent."""
        with self._lock:
            self._arbitration.check_device(request.device_id)
            role = roles.of(request.role, 0)
            caller.check(Right.READ, role)
            control, forwarding = self._current()

        @contextmanager
        def part(paused: bool) -> Iterator[None]:
            with self._lock:
                if self._saved is None and self._forwarding is not forwarding:
                    raise StatusError(
                        rpc_code.ABORTED, "another pipeline was committed during this read; read again"
                    )
                with batch.undisturbed(control) if paused else nullcontext():
                    yield

        return Reading(forwarding, role, request.entities, part)

    def check_device(self, device_id: int) -> None:
        """Raises NOT_FOUND for another device."""
        self._arbitration.check_device(device_id)

    def _current(self) -> tuple[SwitchHandle, Forwarding]:
        if self._saved is not None:
            _, shadow, forwarding = self._saved
            return shadow, forwarding
        if self._forwarding is None:
            raise _no_pipeline()
        return self._control, self._forwarding


def _no_pipeline() -> StatusError:
    return precondition("No forwarding pipeline config is set for this device; push one first")


def _stream_error(error: StatusError, **refused: Message) -> p4r.StreamMessageResponse:
    """Returns an error with the refused message, in the field of its kind."""
    code, message = error.code, error.message
    # mypy takes each key for every field.
    told = p4r.StreamError(canonical_code=code, message=message, space="eeon", code=code, **refused)  # type: ignore[arg-type]
    return p4r.StreamMessageResponse(error=told)
