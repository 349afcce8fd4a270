"""Target: calls of every method of the Thrift interface, in any order, with mostly valid arguments.

Every call is answered with its result, a declared exception with a code of its enum, or a reason in words. A
refused call changes nothing, reads return what was written, and the switch continues.
"""

from typing import Any

from eeon_engine import Switch
from eeon_engine.thrift.interface import SERVICES, standard
from thriftpy2.thrift import TApplicationException, TType

from differential.calls import key_of
from differential.thrift import to_thrift

from .draws import Draws
from .thrift_stream import Caller
from .world import PROGRAMS, World, check_conservation, engine_state, no_bug_logged, require, traffic, world

_MAX_CALLS = 24
METHODS = [
    (service, name)
    for service in ("standard", "simple_pre_lag", "simple_switch")
    for name in SERVICES[service].thrift_services
]
_KINDS = ("tables", "actions", "action_profiles", "counters", "meters", "registers", "value_sets", "digests")
# By name of the argument: the kind of objects that it names.
_NAMES = {"table": 0, "action": 1, "profile": 2, "counter": 3, "meter": 4, "reg": 5, "vset": 6}
_NUMBERS = (0, 1, 2, 3, 7, 15, 255, 511, 512, 65_535, -1)
_EXTREMES = {TType.BYTE: 8, TType.I16: 16, TType.I32: 32, TType.I64: 64}
_FLOATS = (0.0, 0.001, 1.0, 1e300, -1.0, float("inf"), float("nan"), 5e-324)


def run(data: bytes) -> None:
    """Runs one input."""
    draws = Draws(data)
    chosen = world(draws.choice(PROGRAMS))
    with no_bug_logged():
        switch = chosen.switch()
        caller = Caller(switch)
        for _ in range(_MAX_CALLS):
            if draws.is_over:
                break
            if draws.one_in(8):
                traffic(chosen, switch, draws)
                check_conservation(switch)
            else:
                _call(chosen, switch, caller, draws)
        _goes_on(chosen, switch)


def _goes_on(chosen: World, switch: Switch) -> None:
    """Checks that the same switch accepts a new program and conserves packets."""
    switch.advance_to(switch.now_ps + 10**12)
    check_conservation(switch)
    switch.load_program(chosen.program)
    switch.inject(1, bytes(64))
    switch.advance_to(switch.now_ps + 10**12)
    check_conservation(switch)


def _call(chosen: World, switch: Switch, caller: Caller, draws: Draws) -> None:
    service, name = draws.choice(METHODS)
    given = arguments(chosen, service, name, draws)
    same = switch.program is chosen.program
    before = engine_state(switch, chosen) if same else None
    outcome = caller.call(service, name, given, draws.choice((1, 1, 2, 7)))
    refusal = getattr(outcome, "refusal", None)
    if refusal is not None:
        enum = refusal.thrift_spec[1][2]
        require(
            refusal.code in enum._VALUES_TO_NAMES, f"{name}: code {refusal.code} is none of {enum.__name__}"
        )
    if refusal is not None or isinstance(outcome, TApplicationException):
        if same:
            require(engine_state(switch, chosen) == before, f"{name} is refused and has changed the switch")
    elif same:
        _read_back(chosen, switch, name, given)


def _read_back(chosen: World, switch: Switch, name: str, given: Any) -> None:
    """Requires that an accepted call's values can be read back."""
    match name:
        case "bm_register_write":
            found = switch.register_read(given.reg or "", given.cell or 0)
            width = 8 * len(found)
            wrote, there = (given.value or 0) % (1 << width), int.from_bytes(found, "big")
            # A cell that is not a whole number of bytes stores the low bits.
            require(wrote & there == there, f"{given} reads {there}")
        case "bm_counter_write":
            value = given.value or standard.BmCounterValue()
            wrote = ((value.bytes or 0) % (1 << 64), (value.packets or 0) % (1 << 64))
            found = switch.read_counters(given.counter or "", given.cell or 0)
            require(found == wrote, f"{given} reads {found}")
        case "bm_mt_clear_entries":
            # The program's own entries stay.
            own = chosen.switch().mt_get_num_entries(given.table or "")
            require(switch.mt_get_num_entries(given.table or "") == own, f"{given} leaves entries")
        case "bm_parse_vset_clear":
            require(switch.parse_vset_get(given.vset or "") == [], f"{given} leaves members")


# ---- arguments


def arguments(chosen: World, service: str, name: str, draws: Draws) -> Any:
    """Returns the arguments of a method."""
    return _struct(chosen, getattr(SERVICES[service], f"{name}_args"), draws, "")


def _struct(chosen: World, kind: Any, draws: Draws, table: str) -> Any:
    """Returns a struct with most of its fields."""
    made = kind()
    for field in kind.thrift_spec.values():
        if field[1] == "cxt":
            made.cxt = 1 if draws.one_in(64) else 0
        elif not draws.one_in(24):
            value = _value(chosen, field, draws, table)
            table = value if field[1] == "table" else table
            setattr(made, field[1], value)
    return made


def _value(chosen: World, field: Any, draws: Draws, table: str) -> Any:
    wire, name = field[0], field[1]
    if wire == TType.LIST:
        element = field[2] if isinstance(field[2], tuple) else (field[2], None)
        layout = next((layout for layout in chosen.layout.tables if layout.name == table), None)
        if name == "key" and layout is not None and not draws.one_in(8):
            return to_thrift(key_of(layout, chosen.choices(draws)))
        return [
            _value(chosen, (element[0], name, element[1]), draws, table) for _ in range(draws.randrange(4))
        ]
    if wire == TType.STRUCT:
        return _struct(chosen, field[2], draws, table)
    if wire == TType.BOOL:
        return bool(draws.randrange(2))
    if wire == TType.DOUBLE:
        return draws.choice(_FLOATS)
    if wire in _EXTREMES:
        limit = 1 << _EXTREMES[wire] - 1
        number = draws.choice((*_NUMBERS, limit - 1, -limit)) if draws.one_in(4) else draws.randrange(4)
        return min(number, limit - 1)
    if wire == TType.BINARY:
        return bytes(draws.randrange(4)) + draws.bytes(draws.choice((1, 2, 4, 0, 6, 40)))
    return _text(chosen, name, draws)


def _text(chosen: World, name: str, draws: Draws) -> str:
    if name in ("ports", "lags"):
        return draws.choice(("", "1", "10", "1010", "1" * 513, "0" * 511 + "1", "2", "é"))
    if name == "json":
        return (
            world(draws.choice(PROGRAMS[1:])).program.json if draws.randrange(4) else draws.bytes(8)
        ).decode("latin-1")
    if draws.one_in(16):
        return draws.choice(("", "nothing", "é\0", "x" * 300))
    kind = _KINDS[_NAMES[name]] if name in _NAMES else draws.choice(_KINDS)
    return draws.choice(chosen.names(kind) or [""])
