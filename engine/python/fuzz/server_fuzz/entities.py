"""Random entities of a P4Info: most are valid or nearly so, and keys are repeated."""

from typing import Any

from eeon_engine.p4runtime.bytestrings import encode
from finsy.proto import p4d, p4r

from .draws import Draws

_EXACT, _LPM, _TERNARY, _RANGE, _OPTIONAL = 2, 3, 4, 5, 6
_BY_PRIORITY = (_TERNARY, _RANGE, _OPTIONAL)
_ARRAYS = ("counters", "meters", "registers", "value_sets", "digests")


class Maker:
    """A generator of entities of one P4Info."""

    def __init__(self, info: Any, draws: Draws) -> None:
        self._info = info
        self._draws = draws
        self._actions = {action.preamble.id: action for action in info.actions}
        self._makers = [self.table_entry, self.table_entry, self.table_entry, self._direct, self._replication]
        self._makers += [self._array] * 3
        if info.action_profiles:
            self._makers += [self._member, self._member, self._group]

    def entity(self) -> Any:
        """Returns an `Entity` of any kind."""
        return self._draws.pick(self._makers)()

    # ---- values

    def _value(self, width: int) -> bytes:
        draws = self._draws
        number = draws.pick((1, 0, 2, 3, (1 << width) - 1, 1 << width - 1, draws.number(2) % (1 << width)))
        if draws.one_in(16):
            return draws.pick((b"", encode(1 << width), b"\0\0" + encode(number), b"\xff" * 40))
        return encode(number)

    def _match(self, field: Any) -> Any:
        draws, width = self._draws, field.bitwidth
        match = p4r.FieldMatch(field_id=field.id)
        every = (1 << width) - 1
        match (
            draws.pick((_EXACT, _LPM, _TERNARY, _RANGE, _OPTIONAL)) if draws.one_in(24) else field.match_type
        ):
            case 2:
                match.exact.value = self._value(width)
            case 3:
                length = draws.pick((width, 1, width // 2, width - 1)) if not draws.one_in(24) else 0
                value = draws.number(2) << max(0, width - 16)
                match.lpm.value = encode(value & (every << (width - length)) & every)
                match.lpm.prefix_len = length + (1 if draws.one_in(24) else 0)
            case 4:
                mask = draws.pick((every, 1, 3, every ^ 1)) & every
                match.ternary.value = encode(draws.number(1) & (mask if not draws.one_in(24) else every))
                match.ternary.mask = encode(mask)
            case 5:
                low, high = sorted((draws.number(1), draws.pick((every, draws.number(1)))))
                match.range.low, match.range.high = encode(low & every), encode(high & every)
            case _:
                match.optional.value = self._value(width)
        return match

    def _action(self, refs: list[int]) -> Any:
        action = p4r.Action(action_id=self._draws.pick(refs))
        for param in self._actions[action.action_id].params:
            if not self._draws.one_in(40):
                action.params.add(param_id=param.id, value=self._value(param.bitwidth))
        return action

    def _counter(self) -> Any:
        numbers = (0, 1, 5, 2**40, 2**63 - 1, -1)
        return p4r.CounterData(packet_count=self._draws.pick(numbers), byte_count=self._draws.pick(numbers))

    def _meter(self) -> Any:
        low, high = self._draws.pick(
            ((1, 5), (0, 0), (5, 2**40), (1, 1), (2**62, 2**63 - 1), (5, 1), (-1, 1))
        )
        burst = self._draws.pick((5, 1, 0, 2**31, 2**63 - 1, -1))
        config = p4r.MeterConfig(cir=low, cburst=burst, pir=high, pburst=self._draws.pick((5, burst)))
        if self._draws.one_in(16):
            config.eburst = 1
        return config

    def _index(self) -> Any:
        draws = self._draws
        chosen = draws.pick((0, 0, 1, 3, None, 15, 65_535, -1, 2**63 - 1))
        return None if chosen is None else p4r.Index(index=chosen)

    # ---- entities

    def table_entry(self) -> Any:
        """Returns a `TableEntry` with some of its optional parts."""
        draws = self._draws
        table = draws.pick(self._info.tables)
        entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=draws.one_in(8))
        if not entry.is_default_action:
            entry.match.extend(self._match(field) for field in table.match_fields if not draws.one_in(16))
            if any(field.match_type in _BY_PRIORITY for field in table.match_fields):
                entry.priority = draws.pick((1, 2, 3, 2**31 - 1, 0))
            elif draws.one_in(32):
                entry.priority = 1
        if not draws.one_in(10):
            self._table_action(table, entry.action)
        if draws.one_in(4):
            entry.metadata = draws.bytes(draws.below(4))
        if draws.one_in(6):
            entry.counter_data.CopyFrom(self._counter())
        if draws.one_in(6):
            entry.meter_config.CopyFrom(self._meter())
        if draws.one_in(6):
            entry.idle_timeout_ns = draws.pick((1, 10**12, 2**63 - 1, -1))
        return p4r.Entity(table_entry=entry)

    def _table_action(self, table: Any, action: Any) -> None:
        draws = self._draws
        refs = [ref.id for ref in table.action_refs]
        if not table.implementation_id or draws.one_in(16):
            action.action.CopyFrom(self._action(refs))
            return
        match draws.below(3):
            case 0:
                action.action_profile_member_id = draws.below(4)
            case 1:
                action.action_profile_group_id = draws.below(4)
            case _:
                for _ in range(1 + draws.below(3)):
                    one = action.action_profile_action_set.action_profile_actions.add()
                    one.action.CopyFrom(self._action(refs))
                    one.weight = draws.pick((1, 2, 3, 0, -1, 2**31 - 1))

    def _profile_and_refs(self) -> tuple[Any, list[int]]:
        profile = self._draws.pick(self._info.action_profiles)
        table = next(t for t in self._info.tables if t.preamble.id in profile.table_ids)
        return profile, [ref.id for ref in table.action_refs]

    def _member(self) -> Any:
        profile, refs = self._profile_and_refs()
        member = p4r.ActionProfileMember(
            action_profile_id=profile.preamble.id, member_id=self._draws.below(4), action=self._action(refs)
        )
        return p4r.Entity(action_profile_member=member)

    def _group(self) -> Any:
        draws = self._draws
        profile, _ = self._profile_and_refs()
        group = p4r.ActionProfileGroup(
            action_profile_id=profile.preamble.id,
            group_id=draws.below(4),
            max_size=draws.pick((0, 4, 16, 2**31 - 1, -1)),
        )
        for _ in range(draws.below(4)):
            group.members.add(member_id=draws.below(4), weight=draws.pick((1, 2, 0, 2**31 - 1, -1)))
        return p4r.Entity(action_profile_group=group)

    def _replication(self) -> Any:
        draws = self._draws
        number = draws.pick((1, 2, 3, 0, 32_767, 32_768, 2**32 - 1))
        entry = p4r.PacketReplicationEngineEntry()
        if draws.below(2):
            target = entry.multicast_group_entry
            target.multicast_group_id = number
        else:
            target = entry.clone_session_entry
            target.session_id = number
            target.class_of_service = draws.pick((0, 0, 0, 1, 7, 8, 2**32 - 1))
            target.packet_length_bytes = draws.pick((0, 64, 2**31 - 1, -1))
        for _ in range(draws.below(4)):
            replica = target.replicas.add(instance=draws.pick((0, 1, 2, 65_535, 65_536)))
            if draws.one_in(4):
                replica.egress_port = draws.pick((1, 2, 511, 512, 2**32 - 1))
            else:
                replica.port = self._value(9)
            if draws.one_in(16):
                replica.backup_replicas.add(port=self._value(9), instance=draws.below(2))
        return p4r.Entity(packet_replication_engine_entry=entry)

    def _array(self) -> Any:
        kind = self._draws.pick([kind for kind in _ARRAYS if getattr(self._info, kind)])
        item = self._draws.pick(getattr(self._info, kind))
        number = item.preamble.id
        match kind:
            case "counters":
                cell = p4r.CounterEntry(counter_id=number, index=self._index(), data=self._counter())
                return p4r.Entity(counter_entry=cell)
            case "meters":
                config = self._meter() if self._draws.below(2) else None
                return p4r.Entity(
                    meter_entry=p4r.MeterEntry(meter_id=number, index=self._index(), config=config)
                )
            case "registers":
                width = item.type_spec.bitstring.bit.bitwidth or 16
                data = p4d.P4Data(bitstring=self._value(width))
                cell = p4r.RegisterEntry(register_id=number, index=self._index(), data=data)
                return p4r.Entity(register_entry=cell)
            case "value_sets":
                entry = p4r.ValueSetEntry(value_set_id=number)
                for _ in range(self._draws.below(6)):
                    entry.members.add(match=[self._match(field) for field in item.match])
                return p4r.Entity(value_set_entry=entry)
        config = p4r.DigestEntry.Config(
            max_timeout_ns=self._draws.pick((0, 1, 10**15, -1)),
            max_list_size=self._draws.pick((1, 2, 0, -1)),
            ack_timeout_ns=self._draws.pick((0, 1, 10**15, -1)),
        )
        return p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=number, config=config))

    def _direct(self) -> Any:
        entry = self.table_entry().table_entry
        if self._draws.below(2):
            return p4r.Entity(
                direct_counter_entry=p4r.DirectCounterEntry(table_entry=entry, data=self._counter())
            )
        config = self._meter() if self._draws.below(3) else None
        return p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry(table_entry=entry, config=config))
