"""Constants of the P4 program, read from a file that its compilation writes; none is defined twice."""

import json

from eeon_control import data
from eeon_control.errors import DataNotFound

_PATH = data.folder("p4src") / "constants.json"


def _read() -> dict[str, dict[str, int]]:
    try:
        read: dict[str, dict[str, int]] = json.loads(_PATH.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataNotFound(f"{_PATH}: {error.strerror}; run `make p4`, or reinstall eeon-control") from None
    return read


def _names(of: dict[str, int]) -> tuple[str, ...]:
    """Returns lower-case names in the order of their numbers, which are 0, 1, 2, ..."""
    ordered = sorted(of, key=of.__getitem__)
    assert [of[name] for name in ordered] == list(range(len(ordered))), f"{_PATH}: an enum has gaps"
    return tuple(name.lower() for name in ordered)


_ALL = _read()
_CONSTANTS = _ALL["constants"]
_REGISTER_BITS = _ALL["register_bits"]

CLASSES: tuple[str, ...] = _names(_ALL["packet_class_t"])
VERDICTS: tuple[str, ...] = _names(_ALL["verdict_t"])
SENT: tuple[str, ...] = ("forwarded", "marked")
"""Verdicts of packets that a port has sent."""
DROPS: tuple[str, ...] = (
    *("early_dropped", "tail_dropped"),
    *("no_route", "ttl_expired", "malformed", "not_admitted", "martian"),
)
"""Verdicts of dropped packets: in a queue, and on arrival."""
EEE_STATES: tuple[str, ...] = _names(_ALL["eee_state_t"])
EEE_ACTIVE: int = _ALL["eee_state_t"]["ACTIVE"]
PROTECT: dict[str, int] = {name.lower(): number for name, number in _ALL["protect_t"].items()}
ECN: dict[str, int] = _ALL["ecn_t"]

CPU_PORT: int = _CONSTANTS["CPU_PORT"]
DROP_PORT: int = _CONSTANTS["DROP_PORT"]
COPY_PORT: int = _CONSTANTS["COPY_PORT"]
COPY_SESSION: int = _CONSTANTS["COPY_SESSION"]
DATA_PORT_MAX: int = min(COPY_PORT, CPU_PORT, DROP_PORT) - 1
PORT_MAX: int = (1 << _ALL["type_bits"]["port_id_t"]) - 1
ETHERTYPE_IPV4: int = _CONSTANTS["ETHERTYPE_IPV4"]
ETHERTYPE_IPV6: int = _CONSTANTS["ETHERTYPE_IPV6"]
ETHERTYPES_VLAN: tuple[int, int] = (_CONSTANTS["ETHERTYPE_VLAN"], _CONSTANTS["ETHERTYPE_QINQ"])
ROUTE_TABLE_SIZE: int = _CONSTANTS["ROUTE_TABLE_SIZE"]
RECEIVED_CELLS: int = _CONSTANTS["RECEIVED_CELLS"]
VERDICT_CELLS: int = _CONSTANTS["VERDICT_CELLS"]
PORT_CELLS: int = _CONSTANTS["PORT_CELLS"]
CONTROL_PRIORITY: int = _CONSTANTS["CONTROL_PRIORITY"]
"""The queue of frames that the switch generates. Pausing it would also hold back its pause frames."""
PRIORITY_BITS: int = _ALL["type_bits"]["priority_t"]
"""Bits of a priority in the number of a queue: `port << PRIORITY_BITS | priority`."""
TICKET_BITS: int = _ALL["type_bits"]["ticket_t"]
PAUSE_FRAME_BYTES: int = _CONSTANTS["PAUSE_FRAME_BYTES"]

TICK_VALUES: int = 1 << _ALL["type_bits"]["tick_t"]
"""Timestamps are modulo this number of ticks."""
TICKS_AHEAD_LIMIT: int = _CONSTANTS["TICKS_AHEAD_LIMIT"]
WAKES_VALUES: int = 1 << _REGISTER_BITS["wakes"]
"""The register `wakes` counts modulo this number."""
BYTE_COUNT_MAX: int = (1 << _ALL["type_bits"]["byte_count_t"]) - 1

RED_PROBABILITY_ONE: int = 1 << _ALL["type_bits"]["probability_t"]
"""Probability 1 in RED's fixed point, and the exclusive upper bound of its random numbers."""
RED_DEPTH_ONE: int = 1 << _CONSTANTS["RED_DEPTH_BITS"]
"""One byte, or one packet, in the fixed point of RED's depth."""
RED_RAMP_BITS: int = _CONSTANTS["RED_RAMP_BITS"]
"""Fractional bits of the depth's distance from the lower threshold."""
WIRE_TIME_ONE: int = 1 << _CONSTANTS["WIRE_TIME_BITS"]
"""One tick in the fixed point of `ticks_per_byte_q24`."""
WIRE_TIME_LIMIT: int = 1 << _ALL["type_bits"]["wire_time_t"]
"""The exclusive upper bound of `ticks_per_byte_q24`."""
