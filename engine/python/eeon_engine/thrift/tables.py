"""Calls on tables and action profiles, but those that are forwarded."""

from functools import partialmethod
from typing import Any

from thriftpy2.thrift import TType

from ..exceptions import ControlError, ImmutableError, InvalidValueError, NoSuchHandleError
from ..values import Entry, EntryAction, MatchParam, MeterRate
from .interface import signed, standard, unsigned, zero
from .names import Context

_NS_PER_MS = 1_000_000
_SIMPLE = ("simple",)
_INDIRECT = ("indirect", "indirect_ws")
_MATCHES = {
    field[1]: (standard.BmMatchParamType._NAMES_TO_VALUES[field[1].upper()], field[2])
    for field in standard.BmMatchParam.thrift_spec.values()
    if field[0] == TType.STRUCT
}
"""The number and the struct of each kind of match; its fields are those of the engine, in order."""
_FIELDS = {
    number: (kind, [(field[1], zero(field)) for field in struct.thrift_spec.values()])
    for kind, (number, struct) in _MATCHES.items()
}
"""The kind of each number, and its fields with their values if they were not sent, which no key accepts."""


class TableCalls:
    """Service `standard`: tables and action profiles."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_mt_get_entries(self, cxt: int, table: str) -> list[standard.BmMtEntry]:
        return [self._entry(table, entry) for entry in self._context.entries(table)]

    def bm_mt_get_entry(self, cxt: int, table: str, entry: int) -> standard.BmMtEntry:
        return self._entry(table, self._control.mt_get_entry(table, unsigned(entry, 32)))

    def bm_mt_get_entry_from_key(
        self, cxt: int, table: str, key: list[standard.BmMatchParam], options: standard.BmAddEntryOptions
    ) -> standard.BmMtEntry:
        if not key:
            return standard.BmMtEntry(
                match_key=[],
                options=standard.BmAddEntryOptions(),
                entry_handle=0,
                action_entry=self.bm_mt_get_default_entry(cxt, table),
            )
        found = self._control.mt_get_entry_from_key(table, match_key(key), priority(options))
        if found is None:
            raise NoSuchHandleError(f"table '{table}': no entry has this key", "BAD_MATCH_KEY")
        return self._entry(table, found)

    def bm_mt_get_default_entry(self, cxt: int, table: str) -> standard.BmActionEntry:
        action = self._control.mt_get_default_entry(table)
        if action is None:
            return standard.BmActionEntry(action_type=standard.BmActionEntryType.NONE)
        return _action_entry(action)

    # ---- entries with their own actions

    def bm_mt_delete_entry(self, cxt: int, table: str, entry: int, *, of: tuple[str, ...] = _SIMPLE) -> None:
        self._check_type(table, of)
        self._control.mt_delete_entry(table, unsigned(entry, 32))

    def bm_mt_set_entry_ttl(self, cxt: int, table: str, entry: int, timeout_ms: int) -> None:
        found = self._context.names["tables"].get(table)
        if found is not None and not found.get("support_timeout"):
            raise ControlError(f"table '{table}': its entries do not age", "AGEING_DISABLED")
        ttl_ns = unsigned(timeout_ms, 32) * _NS_PER_MS
        self._control.mt_set_entry_ttl(table, unsigned(entry, 32), ttl_ns)

    def bm_mt_set_default_action(self, cxt: int, table: str, action: str, data: list[bytes]) -> None:
        found = self._context.names["tables"].get(table)
        default = None if found is None else found.get("default_entry")
        if found and default and default.get("action_entry_const") and action in found["actions"]:
            # The engine accepts a call that changes nothing, BMv2 does not.
            raise ImmutableError(f"table '{table}': its default entry is const", "DEFAULT_ENTRY_IS_CONST")
        self._control.mt_set_default_action(table, action, data)

    def bm_mt_reset_default_entry(self, cxt: int, table: str, *, of: tuple[str, ...] = _SIMPLE) -> None:
        self._check_type(table, of)
        self._control.mt_reset_default_entry(table)

    # ---- entries that refer to members or groups

    bm_mt_indirect_set_entry_ttl = bm_mt_set_entry_ttl
    bm_mt_indirect_delete_entry = partialmethod(bm_mt_delete_entry, of=_INDIRECT)
    bm_mt_indirect_reset_default_entry = partialmethod(bm_mt_reset_default_entry, of=_INDIRECT)

    # ---- counters and meters of entries

    def bm_mt_set_meter_rates(
        self, cxt: int, table: str, entry: int, rates: list[standard.BmMeterRateConfig]
    ) -> None:
        # BMv2 checks the table and the entry before the rates.
        self._control.mt_get_meter_rates(table, unsigned(entry, 32))
        self._control.mt_set_meter_rates(table, unsigned(entry, 32), meter_rates(rates))

    # ---- action profiles

    def bm_mt_act_prof_get_members(self, cxt: int, profile: str) -> list[standard.BmMtActProfMember]:
        return [_member(*member) for member in self._context.members(profile)]

    def bm_mt_act_prof_get_member(self, cxt: int, profile: str, member: int) -> standard.BmMtActProfMember:
        for handle, action, data in self._control.mt_act_prof_get_members(profile):
            if handle == unsigned(member, 32):
                return _member(handle, action, data)
        raise NoSuchHandleError(
            f"action profile '{profile}': no member has handle {member}", "INVALID_MBR_HANDLE"
        )

    def bm_mt_act_prof_get_groups(self, cxt: int, profile: str) -> list[standard.BmMtActProfGroup]:
        return [_group(*group) for group in self._context.groups(profile)]

    def bm_mt_act_prof_get_group(self, cxt: int, profile: str, group: int) -> standard.BmMtActProfGroup:
        for handle, members in self._control.mt_act_prof_get_groups(profile):
            if handle == unsigned(group, 32):
                return _group(handle, members)
        raise NoSuchHandleError(
            f"action profile '{profile}': no group has handle {group}", "INVALID_GRP_HANDLE"
        )

    # ---- helpers

    def _check_type(self, table: str, types: tuple[str, ...]) -> None:
        """Refuses a table of another type. One that is not there the engine refuses."""
        found = self._context.names["tables"].get(table)
        if found is not None and found["type"] not in types:
            raise InvalidValueError(
                f"table '{table}' is of type {found['type']}; the call is for {' and '.join(types)}",
                "WRONG_TABLE_TYPE",
            )

    def _entry(self, table: str, entry: Entry) -> standard.BmMtEntry:
        handle, key, priority, action = entry
        found = self._context.names["tables"].get(table)
        shown = priority if found and found["match_type"] in ("ternary", "range") else -1
        life = None
        if found and found.get("support_timeout"):
            ttl_ns, idle_ns = self._control.mt_get_entry_life(table, handle)
            # As BMv2, only where a time-out is set.
            if ttl_ns:
                timeout_ms, idle_ms = (signed(ns // _NS_PER_MS, 32) for ns in (ttl_ns, idle_ns))
                life = standard.BmMtEntryLife(timeout_ms=timeout_ms, time_since_hit_ms=idle_ms)
        return standard.BmMtEntry(
            match_key=[match_param(param) for param in key],
            options=standard.BmAddEntryOptions(priority=signed(shown, 32)),
            entry_handle=signed(handle, 32),
            action_entry=_action_entry(action),
            life=life,
        )


def _member(handle: int, action: str, data: list[bytes]) -> standard.BmMtActProfMember:
    return standard.BmMtActProfMember(
        mbr_handle=signed(handle, 32), action_name=action, action_data=_shortest(data)
    )


def _group(handle: int, members: list[int]) -> standard.BmMtActProfGroup:
    return standard.BmMtActProfGroup(
        grp_handle=signed(handle, 32), mbr_handles=[signed(member, 32) for member in members]
    )


def match_key(params: list[standard.BmMatchParam]) -> list[MatchParam]:
    return [_engine_param(param) for param in params]


def _engine_param(param: standard.BmMatchParam) -> MatchParam:
    if (known := _FIELDS.get(param.type or 0)) is None:
        last = standard.BmMatchParamType.RANGE
        raise InvalidValueError(f"match type {param.type} is unknown; types are 0 to {last}", "BAD_MATCH_KEY")
    kind, fields = known
    match = getattr(param, kind)
    # Any: their types are those of the kind.
    values: list[Any] = [getattr(match, name, None) or absent for name, absent in fields]
    if kind == "lpm" and values[1] < 0:
        raise InvalidValueError(f"prefix length {values[1]} is negative", "BAD_MATCH_KEY")
    return (kind, *values)


def match_param(param: MatchParam) -> standard.BmMatchParam:
    """Returns a field of a key in Thrift's form."""
    kind, *values = param
    number, struct = _MATCHES[kind]
    return standard.BmMatchParam(type=number, **{kind: struct(*values)})


def _action_entry(action: EntryAction) -> standard.BmActionEntry:
    kinds = standard.BmActionEntryType
    match action:
        case ("action", name, data):
            return standard.BmActionEntry(
                action_type=kinds.ACTION_DATA, action_name=name, action_data=_shortest(data)
            )
        case ("member", handle):
            return standard.BmActionEntry(action_type=kinds.MBR_HANDLE, mbr_handle=signed(handle, 32))
        case ("group", handle):
            return standard.BmActionEntry(action_type=kinds.GRP_HANDLE, grp_handle=signed(handle, 32))
    raise AssertionError(action)


def priority(options: standard.BmAddEntryOptions) -> int:
    given = options.priority or 0
    if given < 0:
        raise InvalidValueError(f"priority {given} is negative; use 0 or more, the lowest wins", "ERROR")
    return int(given)


def _shortest(data: list[bytes]) -> list[bytes]:
    """Returns action data as BMv2 gives them back: without leading zeros. Keys are padded to their width."""
    return [value.lstrip(b"\0") or b"\0" for value in data]


def counter_value(bytes_: int, packets: int) -> standard.BmCounterValue:
    return standard.BmCounterValue(bytes=signed(bytes_, 64), packets=signed(packets, 64))


def counter_cell(value: standard.BmCounterValue) -> tuple[int, int]:
    return unsigned(value.bytes or 0, 64), unsigned(value.packets or 0, 64)


def meter_rates(rates: list[standard.BmMeterRateConfig]) -> list[MeterRate]:
    """Returns the engine's rates. No rates, which reset a meter of the engine, are refused as in BMv2."""
    if not rates:
        raise InvalidValueError("no rate is given; give every rate of the meter", "BAD_RATES_LIST")
    for rate in rates:
        if (rate.burst_size or 0) < 0:
            raise InvalidValueError(
                f"burst size {rate.burst_size} is negative; use 0 or more packets or bytes",
                "INVALID_BURST_SIZE_VALUE",
            )
    return [(rate.units_per_micros or 0.0, rate.burst_size or 0) for rate in rates]


def meter_configs(rates: list[MeterRate]) -> list[standard.BmMeterRateConfig]:
    return [
        standard.BmMeterRateConfig(units_per_micros=rate, burst_size=signed(burst, 32))
        for rate, burst in rates
    ]
