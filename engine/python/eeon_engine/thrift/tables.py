"""Calls on tables: entries, default entries, the counters and meters of entries."""

from ..exceptions import ControlError, ImmutableError, InvalidValueError, NoSuchHandleError
from ..values import Entry, EntryAction, MatchParam, MeterRate
from .interface import signed, standard, unsigned
from .names import Context

_NS_PER_MS = 1_000_000
_SIMPLE = ("simple",)
_INDIRECT = ("indirect", "indirect_ws")


class TableCalls:
    """Service `standard`: tables."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_mt_get_num_entries(self, cxt: int, table: str) -> int:
        return self._control.mt_get_num_entries(table)

    def bm_mt_clear_entries(self, cxt: int, table: str, reset_default: bool) -> None:
        self._control.mt_clear_entries(table, reset_default)

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
        found = self._control.mt_get_entry_from_key(table, match_key(key), _priority(options))
        if found is None:
            raise NoSuchHandleError(f"table '{table}': no entry has this key", "BAD_MATCH_KEY")
        return self._entry(table, found)

    def bm_mt_get_default_entry(self, cxt: int, table: str) -> standard.BmActionEntry:
        action = self._control.mt_get_default_entry(table)
        if action is None:
            return standard.BmActionEntry(action_type=standard.BmActionEntryType.NONE)
        return _action_entry(action)

    # ---- entries with their own actions

    def bm_mt_add_entry(
        self,
        cxt: int,
        table: str,
        key: list[standard.BmMatchParam],
        action: str,
        data: list[bytes],
        options: standard.BmAddEntryOptions,
    ) -> int:
        handle = self._control.mt_add_entry(table, match_key(key), action, data, _priority(options))
        return signed(handle, 32)

    def bm_mt_modify_entry(self, cxt: int, table: str, entry: int, action: str, data: list[bytes]) -> None:
        self._control.mt_modify_entry(table, unsigned(entry, 32), action, data)

    def bm_mt_delete_entry(self, cxt: int, table: str, entry: int) -> None:
        self._check_type(table, _SIMPLE)
        self._control.mt_delete_entry(table, unsigned(entry, 32))

    def bm_mt_set_entry_ttl(self, cxt: int, table: str, entry: int, timeout_ms: int) -> None:
        shape = self._context.table(table)
        if shape is not None and not shape.supports_timeout:
            raise ControlError(f"table '{table}': its entries do not age", "AGEING_DISABLED")
        ttl_ns = unsigned(timeout_ms, 32) * _NS_PER_MS
        self._control.mt_set_entry_ttl(table, unsigned(entry, 32), ttl_ns)

    def bm_mt_set_default_action(self, cxt: int, table: str, action: str, data: list[bytes]) -> None:
        shape = self._context.table(table)
        if shape is not None and shape.has_const_default and action in shape.actions:
            # The engine accepts a call that changes nothing, BMv2 does not.
            raise ImmutableError(f"table '{table}': its default entry is const", "DEFAULT_ENTRY_IS_CONST")
        self._control.mt_set_default_action(table, action, data)

    def bm_mt_reset_default_entry(self, cxt: int, table: str) -> None:
        self._check_type(table, _SIMPLE)
        self._control.mt_reset_default_entry(table)

    # ---- entries that refer to members or groups

    def bm_mt_indirect_add_entry(
        self,
        cxt: int,
        table: str,
        key: list[standard.BmMatchParam],
        member: int,
        options: standard.BmAddEntryOptions,
    ) -> int:
        handle = self._control.mt_indirect_add_entry(
            table, match_key(key), unsigned(member, 32), _priority(options)
        )
        return signed(handle, 32)

    def bm_mt_indirect_modify_entry(self, cxt: int, table: str, entry: int, member: int) -> None:
        self._control.mt_indirect_modify_entry(table, unsigned(entry, 32), unsigned(member, 32))

    def bm_mt_indirect_set_entry_ttl(self, cxt: int, table: str, entry: int, timeout_ms: int) -> None:
        self.bm_mt_set_entry_ttl(cxt, table, entry, timeout_ms)

    def bm_mt_indirect_delete_entry(self, cxt: int, table: str, entry: int) -> None:
        self._check_type(table, _INDIRECT)
        self._control.mt_delete_entry(table, unsigned(entry, 32))

    def bm_mt_indirect_set_default_member(self, cxt: int, table: str, member: int) -> None:
        self._control.mt_indirect_set_default_member(table, unsigned(member, 32))

    def bm_mt_indirect_reset_default_entry(self, cxt: int, table: str) -> None:
        self._check_type(table, _INDIRECT)
        self._control.mt_reset_default_entry(table)

    def bm_mt_indirect_ws_add_entry(
        self,
        cxt: int,
        table: str,
        key: list[standard.BmMatchParam],
        group: int,
        options: standard.BmAddEntryOptions,
    ) -> int:
        handle = self._control.mt_indirect_ws_add_entry(
            table, match_key(key), unsigned(group, 32), _priority(options)
        )
        return signed(handle, 32)

    def bm_mt_indirect_ws_modify_entry(self, cxt: int, table: str, entry: int, group: int) -> None:
        self._control.mt_indirect_ws_modify_entry(table, unsigned(entry, 32), unsigned(group, 32))

    def bm_mt_indirect_ws_set_default_group(self, cxt: int, table: str, group: int) -> None:
        self._control.mt_indirect_ws_set_default_group(table, unsigned(group, 32))

    # ---- counters and meters of entries

    def bm_mt_read_counter(self, cxt: int, table: str, entry: int) -> standard.BmCounterValue:
        return counter_value(*self._control.mt_read_counters(table, unsigned(entry, 32)))

    def bm_mt_write_counter(self, cxt: int, table: str, entry: int, value: standard.BmCounterValue) -> None:
        self._control.mt_write_counters(table, unsigned(entry, 32), *counter_cell(value))

    def bm_mt_reset_counters(self, cxt: int, table: str) -> None:
        self._control.mt_reset_counters(table)

    def bm_mt_set_meter_rates(
        self, cxt: int, table: str, entry: int, rates: list[standard.BmMeterRateConfig]
    ) -> None:
        # BMv2 checks the table and the entry before the rates.
        self._control.mt_get_meter_rates(table, unsigned(entry, 32))
        self._control.mt_set_meter_rates(table, unsigned(entry, 32), meter_rates(rates))

    def bm_mt_get_meter_rates(self, cxt: int, table: str, entry: int) -> list[standard.BmMeterRateConfig]:
        return meter_configs(self._control.mt_get_meter_rates(table, unsigned(entry, 32)))

    # ---- helpers

    def _check_type(self, table: str, types: tuple[str, ...]) -> None:
        """Refuses a table of another type. One that is not there the engine refuses."""
        shape = self._context.table(table)
        if shape is not None and shape.type not in types:
            raise InvalidValueError(
                f"table '{table}' is of type {shape.type}; the call is for {' and '.join(types)}",
                "WRONG_TABLE_TYPE",
            )

    def _entry(self, table: str, entry: Entry) -> standard.BmMtEntry:
        handle, key, priority, action = entry
        shape = self._context.table(table)
        shown = priority if shape and shape.has_priorities else -1
        life = None
        if shape and shape.supports_timeout:
            ttl_ns, idle_ns = self._control.mt_get_entry_life(table, handle)
            # As BMv2, only where a time-out is set.
            life = _life(ttl_ns, idle_ns) if ttl_ns else None
        return standard.BmMtEntry(
            match_key=[_match_param(param) for param in key],
            options=standard.BmAddEntryOptions(priority=signed(shown, 32)),
            entry_handle=signed(handle, 32),
            action_entry=_action_entry(action),
            life=life,
        )


def _life(ttl_ns: int, idle_ns: int) -> standard.BmMtEntryLife:
    return standard.BmMtEntryLife(
        timeout_ms=signed(ttl_ns // _NS_PER_MS, 32), time_since_hit_ms=signed(idle_ns // _NS_PER_MS, 32)
    )


def match_key(params: list[standard.BmMatchParam]) -> list[MatchParam]:
    """Returns the engine's key."""
    return [_engine_param(param) for param in params]


def _engine_param(param: standard.BmMatchParam) -> MatchParam:
    kinds = standard.BmMatchParamType
    kind = param.type or kinds.EXACT
    # A field that the client left out is an empty value, which no key accepts.
    if kind == kinds.EXACT:
        return ("exact", (param.exact and param.exact.key) or b"")
    if kind == kinds.LPM:
        lpm = param.lpm or standard.BmMatchParamLPM()
        if (lpm.prefix_length or 0) < 0:
            raise InvalidValueError(f"prefix length {lpm.prefix_length} is negative", "BAD_MATCH_KEY")
        return ("lpm", lpm.key or b"", lpm.prefix_length or 0)
    if kind == kinds.TERNARY:
        ternary = param.ternary or standard.BmMatchParamTernary()
        return ("ternary", ternary.key or b"", ternary.mask or b"")
    if kind == kinds.VALID:
        return ("valid", bool(param.valid and param.valid.key))
    if kind == kinds.RANGE:
        bounds = param.range or standard.BmMatchParamRange()
        return ("range", bounds.start or b"", bounds.end_ or b"")
    raise InvalidValueError(f"match type {kind} is unknown; types are 0 to {kinds.RANGE}", "BAD_MATCH_KEY")


def _match_param(param: MatchParam) -> standard.BmMatchParam:
    kinds = standard.BmMatchParamType
    match param:
        case ("exact", value):
            return standard.BmMatchParam(type=kinds.EXACT, exact=standard.BmMatchParamExact(key=value))
        case ("lpm", value, length):
            lpm = standard.BmMatchParamLPM(key=value, prefix_length=length)
            return standard.BmMatchParam(type=kinds.LPM, lpm=lpm)
        case ("ternary", value, mask):
            ternary = standard.BmMatchParamTernary(key=value, mask=mask)
            return standard.BmMatchParam(type=kinds.TERNARY, ternary=ternary)
        case ("range", first, last):
            bounds = standard.BmMatchParamRange(start=first, end_=last)
            return standard.BmMatchParam(type=kinds.RANGE, range=bounds)
        case ("valid", valid):
            return standard.BmMatchParam(type=kinds.VALID, valid=standard.BmMatchParamValid(key=valid))
    raise AssertionError(param)


def _action_entry(action: EntryAction) -> standard.BmActionEntry:
    kinds = standard.BmActionEntryType
    match action:
        case ("action", name, data):
            return standard.BmActionEntry(
                action_type=kinds.ACTION_DATA, action_name=name, action_data=shortest(data)
            )
        case ("member", handle):
            return standard.BmActionEntry(action_type=kinds.MBR_HANDLE, mbr_handle=signed(handle, 32))
        case ("group", handle):
            return standard.BmActionEntry(action_type=kinds.GRP_HANDLE, grp_handle=signed(handle, 32))
    raise AssertionError(action)


def _priority(options: standard.BmAddEntryOptions) -> int:
    priority = options.priority or 0
    if priority < 0:
        raise InvalidValueError(f"priority {priority} is negative; use 0 or more, the lowest wins", "ERROR")
    return int(priority)


def shortest(data: list[bytes]) -> list[bytes]:
    """Returns the action data as BMv2 gives them back: without leading zeros. Keys are padded to their
    width."""
    return [value.lstrip(b"\0") or b"\0" for value in data]


def counter_value(bytes_: int, packets: int) -> standard.BmCounterValue:
    """Returns a counter cell as it travels."""
    return standard.BmCounterValue(bytes=signed(bytes_, 64), packets=signed(packets, 64))


def counter_cell(value: standard.BmCounterValue) -> tuple[int, int]:
    """Returns the bytes and packets of a counter cell that came."""
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
    """Returns the rates as they travel."""
    return [
        standard.BmMeterRateConfig(units_per_micros=rate, burst_size=signed(burst, 32))
        for rate, burst in rates
    ]
