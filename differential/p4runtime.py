"""A P4Runtime client for either switch: the primary of its device, with requests as repeatable text.

A request is `Call("p4runtime", "write" or "read", (text,))`; its text is a WriteRequest or a ReadRequest in
Protobuf's text format without device and election id. The client has no state: `requests` knows the objects
in the switches.
"""

from collections.abc import Callable

import grpc
from finsy.proto import p4i, p4r, rpc_code
from google.protobuf import text_format

from ptf_tests.lib.p4rt_session import CODES, COMMIT, Failed, Session

from .thrift import Call

TIMEOUT_SECONDS = 30.0
SERVICE = "p4runtime"
"""In place of a Thrift service."""


class P4RuntimeClient:
    """A connection, primary until it is closed."""

    def __init__(self, address: str, info: p4i.P4Info, program: bytes) -> None:
        """Becomes primary, and sets the pipeline. Raises `Failed`, or TimeoutError."""
        self._session = Session(address, timeout_s=TIMEOUT_SECONDS, stream_timeout_s=None)
        try:
            grpc.channel_ready_future(self._session.channel).result(TIMEOUT_SECONDS)
        except grpc.FutureTimeoutError:
            raise TimeoutError(f"{address}: no connection within {TIMEOUT_SECONDS:g} s") from None
        self._session.arbitrate()
        self._session.push(COMMIT, p4r.ForwardingPipelineConfig(p4info=info, p4_device_config=program))
        self.close = self._session.close

    def make(self, call: Call) -> object:
        """Returns the code of each update of a write, or the serialized entities of a read; for a refusal,
        ("refused", code).

        Raises `Failed` if the switch has ended.
        """
        (text,) = call.arguments
        assert isinstance(text, str), "a request as text"
        made: Callable[[str], object] = self._write if call.method == "write" else self._read
        try:
            return made(text)
        except Failed as failed:
            if failed.code in (rpc_code.UNAVAILABLE, rpc_code.DEADLINE_EXCEEDED):
                raise
            return ("refused", CODES[failed.code])

    def _write(self, text: str) -> list[str]:
        updates = text_format.Parse(text, p4r.WriteRequest()).updates
        try:
            self._session.write(*((update.type, update.entity) for update in updates))
        except Failed as failed:
            if not failed.updates:
                raise
            return [CODES.get(code, str(code)) for code, _ in failed.updates]
        return ["OK"] * len(updates)

    def _read(self, text: str) -> list[bytes]:
        wanted = text_format.Parse(text, p4r.ReadRequest()).entities
        # Neither side guarantees an order.
        return sorted(_bytes(entity) for entity in self._session.entities(*wanted))


def entity_text(content: bytes) -> str:
    """Returns an entity of an answer as text."""
    return text_format.MessageToString(p4r.Entity.FromString(content), as_one_line=True)


def _bytes(entity: p4r.Entity) -> bytes:
    if entity.WhichOneof("entity") == "action_profile_group":
        members = sorted(entity.action_profile_group.members, key=lambda member: member.member_id)
        del entity.action_profile_group.members[:]
        entity.action_profile_group.members.extend(members)
    return entity.SerializeToString(deterministic=True)
