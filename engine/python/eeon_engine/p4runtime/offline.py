"""Writes of entries into a switch in this process, without a server, with the effect of a client's Write."""

from .._engine import SwitchHandle
from ..exceptions import ConfigError
from . import batch
from .clients.roles import DEFAULT
from .entities.forwarding import Forwarding
from .messages import p4i, p4r, rpc_code
from .program.pipeline import Pipeline


def write(switch: SwitchHandle, p4info: p4i.P4Info | str | bytes, request: p4r.WriteRequest) -> int:
    """Applies the updates of a `WriteRequest`, all or none. Returns their number.

    `p4info` is a `P4Info` message or its text format; `request` needs neither a device nor an election id.
    Raises `ConfigError` if the P4Info does not match the switch's program, or with the first refused update
    and the reason.
    """
    return Writer(switch, p4info).write(request)


class Writer:
    """A writer of entries into a switch in this process. It parses the P4Info once, and again when the
    switch's program changes."""

    def __init__(self, switch: SwitchHandle, p4info: p4i.P4Info | str | bytes) -> None:
        self._switch = switch
        self._p4info = p4info
        self._known: Pipeline | None = None

    def write(self, request: p4r.WriteRequest) -> int:
        """Applies a `WriteRequest` as the function `write` does."""
        forwarding = Forwarding(self._switch, self._pipeline().schema)
        atomicity = p4r.WriteRequest.ROLLBACK_ON_ERROR
        results = batch.write(self._switch, forwarding, DEFAULT, request.updates, atomicity)
        for number, refused in enumerate(results, 1):
            if refused is not None and refused.code != rpc_code.ABORTED:
                raise ConfigError(f"update {number} of {len(results)}: {refused.message}")
        return len(results)

    def _pipeline(self) -> Pipeline:
        program = self._switch.program
        if program is None:
            raise ConfigError("the switch has no program; load one before you write entries")
        if self._known is None or self._known.program.digest != program.digest:
            self._known = Pipeline.of_program(program, self._p4info)
        return self._known
