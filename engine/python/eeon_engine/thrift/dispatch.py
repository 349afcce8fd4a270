"""Dispatch of a call: selects its method, decodes its arguments, and encodes its result or exception.

An error of the engine becomes the exception that the method declares, with BMv2's code; the exception has no
field for the engine's reason, which is logged. If the method declares none, or BMv2 has no code, the client
gets a TApplicationException with the reason.
"""

import contextlib
import logging
import threading
from collections.abc import Callable

from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType, TPayload
from thriftpy2.transport import TMemoryBuffer

from .._engine import SwitchHandle
from ..exceptions import ControlError, EngineError
from . import forward
from .interface import SERVICES, zero
from .reader import Reader

_LOG = logging.getLogger(__name__)

_SEPARATOR = ":"

_OF_MANY = {
    "bm_mt_get_entries",
    "bm_mt_act_prof_get_members",
    "bm_mt_act_prof_get_groups",
    "bm_mc_get_entries",
    "bm_register_read_all",
    "bm_serialize_state",
}
"""Calls whose answers are made one at a time: in memory they are many times their size on the wire."""

# BMv2's codes where the engine's are more exact.
_INSTEAD = {("InvalidCounterOperation", "WRONG_TABLE_TYPE"): "INVALID_COUNTER_NAME"}


class Dispatcher:
    """A dispatcher of calls: to the handlers of their service, or forwarded to the engine."""

    def __init__(self, control: SwitchHandle, handlers: dict[str, list[object]]) -> None:
        self._methods: dict[tuple[str, str], Callable[..., object]] = {}
        self._of_many = threading.Lock()
        for service, parts in handlers.items():
            for name in SERVICES[service].thrift_services:
                own = (getattr(part, name) for part in parts if hasattr(part, name))
                self._methods[service, name] = next(own, None) or forward.handler(control, service, name)

    def answer(self, reader: Reader) -> bytes | None:
        """Reads and executes one call. Returns the bytes of the answer, None for a oneway call."""
        called, kind, sequence = reader.message_begin()
        service, _, name = called.rpartition(_SEPARATOR)
        method = self._methods.get((service, name))
        if method is None:
            reader.skip_struct()
            _LOG.warning("call of '%s', which is not a method of this switch", called)
            unknown = TApplicationException(
                TApplicationException.UNKNOWN_METHOD,
                f"'{called}': no such method; use service:method, services {', '.join(SERVICES)}",
            )
            return None if kind == TMessageType.ONEWAY else _message(name, sequence, unknown)
        kind_of_arguments: type[TPayload] = getattr(SERVICES[service], f"{name}_args")
        arguments = reader.struct(kind_of_arguments)
        with self._of_many if name in _OF_MANY else contextlib.nullcontext():
            outcome = self._call(service, name, method, arguments)
            if kind == TMessageType.ONEWAY:
                return None
            try:
                return _message(name, sequence, outcome)
            except Exception:
                _LOG.exception("answer to %s cannot be serialized", called)
                return _message(name, sequence, _internal(f"{name}: the answer cannot be serialized"))

    def _call(self, service: str, name: str, method: Callable[..., object], arguments: TPayload) -> TPayload:
        """Returns the method's result, or a TApplicationException."""
        result: TPayload = getattr(SERVICES[service], f"{name}_result")()
        values = []
        for field in arguments.thrift_spec.values():
            value = getattr(arguments, field[1])
            if value is None:
                value = zero(field)
            if field[1] == "cxt" and value != 0:
                return _internal(f"{name}: context {value} does not exist; use context 0")
            values.append(value)
        try:
            returned = method(*values)
        except EngineError as error:
            _LOG.warning("%s: %s", name, error)
            return _refusal(result, error)
        except Exception:
            _LOG.exception("%s failed", name)
            return _internal(f"{name}: internal error; see the switch's log")
        success = result.thrift_spec.get(0)
        if success is not None:
            setattr(result, success[1], returned)
        return result


def _refusal(result: TPayload, error: EngineError) -> TPayload:
    """Returns the result with the declared exception; a TApplicationException if it has no such error."""
    declared = result.thrift_spec.get(1)
    if declared is None:
        return _internal(str(error))
    exception = declared[2]
    code = error.code if isinstance(error, ControlError) else "ERROR"
    code = _INSTEAD.get((exception.__name__, code), code)
    # Its i32 field knows its enum.
    codes: dict[str, int] = exception.thrift_spec[1][2]._NAMES_TO_VALUES
    number = codes.get(code, codes.get("ERROR"))
    if number is None:
        return _internal(str(error))
    setattr(result, declared[1], exception(code=number))
    return result


def _internal(message: str) -> TApplicationException:
    return TApplicationException(TApplicationException.INTERNAL_ERROR, message)


def _message(name: str, sequence: int, content: TPayload) -> bytes:
    is_exception = isinstance(content, TApplicationException)
    buffer = TMemoryBuffer()
    protocol = TBinaryProtocol(buffer)
    kind = TMessageType.EXCEPTION if is_exception else TMessageType.REPLY
    protocol.write_message_begin(name, kind, sequence)
    content.write(protocol)
    protocol.write_message_end()
    return bytes(buffer.getvalue())
