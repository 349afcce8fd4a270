"""Target: bytes as the messages of each call of the servicer.

An input is a sequence of calls, each with a kind, a length and that many bytes. gRPC itself refuses bytes
that are not a message. One bit of the kind makes the message the primary's, so that a fuzzer need not guess
an election id.
"""

from contextlib import ExitStack

from finsy.proto import p4r
from google.protobuf.message import DecodeError

from .draws import Draws
from .p4runtime_session import Refused, Session, Stream
from .p4runtime_write import forwards
from .world import PROGRAMS, check_conservation, no_bug_logged, traffic, world

_MAX_CALLS = 12
_STREAMS = 3
_CALLS = (
    (p4r.WriteRequest, Session.write),
    (p4r.ReadRequest, Session.read),
    (p4r.SetForwardingPipelineConfigRequest, Session.set_pipeline),
    (p4r.GetForwardingPipelineConfigRequest, Session.get_pipeline),
    (p4r.StreamMessageRequest, None),
    (p4r.StreamMessageRequest, None),
    (p4r.CapabilitiesRequest, Session.capabilities),
)
_SIGNED = 0x80


def run(data: bytes) -> None:
    """Runs one input."""
    draws = Draws(data)
    chosen = world(draws.choice(PROGRAMS))
    with no_bug_logged():
        pipeline = None if draws.one_in(8) else chosen.pipeline
        with Session(chosen.switch(), pipeline) as session, ExitStack() as stack:
            streams = [session.primary, *(Stream(session.service) for _ in range(_STREAMS))]
            for stream in streams[1:]:
                stack.callback(stream.end)
            for _ in range(_MAX_CALLS):
                if draws.is_over:
                    break
                _call(session, streams, draws)
            traffic(chosen, session.switch, draws)
        check_conservation(session.switch)
        # A new server for the same switch, as after a restart, has no election ids.
        with Session(session.switch, None) as after:
            forwards(after, chosen)


def _call(session: Session, streams: list[Stream], draws: Draws) -> None:
    kind = draws.number(1)
    which, call = _CALLS[kind % len(_CALLS)]
    try:
        request = which.FromString(draws.bytes(draws.number(2)))
    except DecodeError:
        return
    if kind & _SIGNED and hasattr(request, "device_id"):
        request.device_id = session.switch.device_id
        if hasattr(request, "election_id"):
            session.sign(request)
    try:
        if call is None:
            streams[kind % len(streams)].send(request)
        else:
            call(session, request)
    except Refused:
        # The call ended with a valid status.
        return
