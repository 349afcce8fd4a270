"""Service `simple_switch`: clone sessions, egress queues, the clock."""

import logging
from collections.abc import Callable

from ..exceptions import EngineError, InvalidValueError, NoSuchHandleError
from .interface import signed, simple_switch, unsigned
from .names import MAX_U16, Context, port_number

_LOG = logging.getLogger(__name__)

_MAX_SESSION = 0x7FFF
_DONE, _REFUSED = 0, 1


class SimpleSwitchCalls:
    def __init__(self, context: Context) -> None:
        self._control = context.control

    # ---- clone sessions

    def mirroring_session_add(self, session: int, target: simple_switch.MirroringSessionConfig) -> None:
        # The only declared error is "not found". BMv2 logs an invalid request and reports success; any other
        # answer would end simple_switch_CLI.
        _result(lambda: self._add(session, target.port, target.mgid))

    def _add(self, session: int, port: int | None, mgid: int | None) -> None:
        for name, value, maximum in (
            ("id", session, _MAX_SESSION),
            ("port", port, MAX_U16),
            ("multicast group", mgid, MAX_U16),
        ):
            if value is not None and not 0 <= value <= maximum:
                raise InvalidValueError(f"clone session {session}: {name} {value} is not 0 to {maximum}")
        self._control.mirroring_session_add(session, port, mgid)

    def mirroring_session_delete(self, session: int) -> None:
        self._control.mirroring_session_delete(_session(session))

    def mirroring_session_get(self, session: int) -> simple_switch.MirroringSessionConfig:
        found = self._control.mirroring_sessions(_session(session))
        if not found:
            raise _not_configured(session)
        ((_, port, mgid, *_),) = found
        return simple_switch.MirroringSessionConfig(port=port, mgid=mgid)

    def mirroring_mapping_add(self, session: int, port: int) -> int:
        return 1 - _result(lambda: self._add(session, port, None))

    def mirroring_mapping_delete(self, session: int) -> int:
        return 1 - _result(lambda: self.mirroring_session_delete(session))

    def mirroring_mapping_get_egress_port(self, session: int) -> int:
        found = self._control.mirroring_sessions(session) if 0 <= session <= _MAX_SESSION else []
        return next((port for _, port, *_ in found if port is not None), -1)

    # ---- queues. In BMv2 a negative depth or rate becomes a very large one: no limit.

    def set_egress_priority_queue_depth(self, port: int, priority: int, packets: int) -> int:
        return _result(
            lambda: self._control.set_queue_depth(
                unsigned(packets, 32), port_number(port), _priority(priority)
            )
        )

    def set_egress_queue_depth(self, port: int, packets: int) -> int:
        return _result(lambda: self._control.set_queue_depth(unsigned(packets, 32), port_number(port)))

    def set_all_egress_queue_depths(self, packets: int) -> int:
        return _result(lambda: self._control.set_queue_depth(unsigned(packets, 32)))

    def set_egress_priority_queue_rate(self, port: int, priority: int, rate: int) -> int:
        return _result(
            lambda: self._control.set_queue_rate(unsigned(rate, 64), port_number(port), _priority(priority))
        )

    def set_egress_queue_rate(self, port: int, rate: int) -> int:
        return _result(lambda: self._control.set_queue_rate(unsigned(rate, 64), port_number(port)))

    def set_all_egress_queue_rates(self, rate: int) -> int:
        return _result(lambda: self._control.set_queue_rate(unsigned(rate, 64)))

    # ---- clock

    def get_time_elapsed_us(self) -> int:
        return signed(self._control.time_elapsed_us, 64)

    def get_time_since_epoch_us(self) -> int:
        return signed(self._control.time_since_epoch_us, 64)


def _session(session: int) -> int:
    if not 0 <= session <= _MAX_SESSION:
        raise _not_configured(session)
    return session


def _not_configured(session: int) -> NoSuchHandleError:
    return NoSuchHandleError(f"clone session {session}: is not configured", "SESSION_NOT_FOUND")


def _priority(priority: int) -> int:
    if priority < 0:
        raise InvalidValueError(f"priority {priority} is negative")
    return priority


def _result(call: Callable[[], None]) -> int:
    """Returns the number that calls return instead of an exception; the reason is logged."""
    try:
        call()
    except EngineError as error:
        _LOG.warning("%s", error)
        return _REFUSED
    return _DONE
