"""P4Runtime requests for a program, with random entities; some are wrong intentionally.

Requests whose answers differ intentionally (docs/develop/conformance.md) are not made.
"""

from collections.abc import Callable

from finsy.proto import p4i, p4r
from google.protobuf import text_format

from .entities import DELETE, INSERT, MODIFY, Entities, Update, key_of
from .frames import Choices
from .p4runtime import SERVICE
from .program import Program
from .thrift import Call

WRONG = 0.3
"""Probability that a table gets an intentionally wrong entry."""
UPDATES_AT_MOST = 4
"""Maximum number in one request."""


def _written(program: Program, info: p4i.P4Info) -> list[p4i.Table]:
    """Returns the tables without const entries, which BMv2 returns unmarked and with other priorities."""
    constant = {table.name for table in program.tables if table.has_const_entries}
    return [table for table in info.tables if table.preamble.name not in constant]


def whole_state(program: Program, info: p4i.P4Info) -> list[Call]:
    """Returns reads of everything that both switches return, except counters."""
    found = []
    # BMv2 returns packets and bytes for any unit.
    both = [counter for counter in info.direct_counters if counter.spec.unit == p4i.CounterSpec.BOTH]
    counted = {counter.preamble.id for counter in both}
    for table in _written(program, info):
        entry = p4r.TableEntry(table_id=table.preamble.id)
        if counted & set(table.direct_resource_ids):
            entry.counter_data.SetInParent()
        found.append(p4r.Entity(table_entry=entry))
        if not table.implementation_id:
            default = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
            found.append(p4r.Entity(table_entry=default))
    for profile in info.action_profiles:
        member = p4r.ActionProfileMember(action_profile_id=profile.preamble.id)
        found.append(p4r.Entity(action_profile_member=member))
        if profile.with_selector:
            group = p4r.ActionProfileGroup(action_profile_id=profile.preamble.id)
            found.append(p4r.Entity(action_profile_group=group))
    return [Call(SERVICE, "read", (_text(p4r.ReadRequest(entities=[entity])),)) for entity in found]


def counter_cells(info: p4i.P4Info, name: str, cells: list[int]) -> Call | None:
    """Returns a read of a counter's cells; None for one of only packets or bytes: BMv2 returns both."""
    counter = next(counter for counter in info.counters if counter.preamble.name == name)
    if counter.spec.unit != p4i.CounterSpec.BOTH:
        return None
    request = p4r.ReadRequest()
    for cell in cells:
        entry = p4r.CounterEntry(counter_id=counter.preamble.id, index=p4r.Index(index=cell))
        request.entities.add(counter_entry=entry)
    return Call(SERVICE, "read", (_text(request),))


class Requests(Entities):
    """Requests for one program. `make` makes one on both switches, and returns their answer."""

    def __init__(self, choices: Choices, info: p4i.P4Info, make: Callable[[Call], object]) -> None:
        super().__init__(choices, info)
        self._make, self._tables = make, _written(choices.program, info)

    def first(self) -> None:
        """Makes the requests after the start of the switches."""
        rng = self._rng
        for profile in self._info.action_profiles:
            if profile.with_selector and rng.random() < 0.4:
                self._with_one_shots.add(profile.preamble.id)
                continue
            self._write([self._member(profile) for _ in range(rng.randint(3, 7))])
            if profile.with_selector:
                self._write([self._group(profile) for _ in range(rng.randint(1, 4))])
        for table in self._tables:
            if table.preamble.name in self._subject.defaults:
                self._write([(MODIFY, self._default(table))])
            if table.match_fields:
                count = min(rng.choice((1, 3, 8, 8, self._subject.entries_at_most)), self._room(table))
                self._write([(INSERT, self._entry(table)) for _ in range(count)])
        self._write(self._replication(INSERT))
        self.later()

    def later(self) -> None:
        """Makes changes between packets."""
        rng = self._rng
        for table in self._tables:
            self._write([self._change(table) for _ in range(rng.randint(0, 4))])
            if table.match_fields and rng.random() < WRONG:
                # Alone, and with a new key: it has only one error, so that the answer is unique.
                wrong = self._entry(table)
                if key_of(wrong.table_entry) not in self._entries[table.preamble.id]:
                    self._spoil(wrong.table_entry)
                    self._write([(INSERT, wrong)])
        for profile in self._info.action_profiles:
            if profile.preamble.id not in self._with_one_shots:
                self._write([self._profile_change(profile)])
        for counter in self._info.counters:
            if rng.random() < 0.3:
                self._write([self._counter(counter)])
        if rng.random() < 0.5:
            self._write(self._replication(rng.choice((INSERT, MODIFY, MODIFY, DELETE))))

    def _write(self, updates: list[Update | None]) -> None:
        left = [update for update in updates if update is not None]
        while left:
            taken = left[: self._rng.randint(1, UPDATES_AT_MOST)]
            del left[: len(taken)]
            request = p4r.WriteRequest()
            for kind, entity in taken:
                request.updates.add(type=kind, entity=entity)
            codes = self._make(Call(SERVICE, "write", (_text(request),)))
            if isinstance(codes, list):
                for (kind, entity), code in zip(taken, codes, strict=True):
                    if code == "OK":
                        self.note(kind, entity)

    def _replication(self, kind: int) -> list[Update | None]:
        rng = self._rng
        groups = [self._multicast(number) for number in rng.sample((1, 2, 3, 7), rng.randint(1, 4))]
        sessions = [self._clone_session(number) for number in rng.sample((1, 2, 3, 5), rng.randint(1, 4))]
        return [(kind, entity) for entity in (*groups, *sessions)]

    def _spoil(self, entry: p4r.TableEntry) -> None:
        match self._rng.randrange(6):
            case 0:
                entry.ClearField("action")
            case 1:
                entry.priority = 0 if entry.priority else 1
            case 2 if entry.match:
                entry.match[0].field_id = 99
            case 3 if entry.match and entry.match[0].HasField("exact"):
                entry.match[0].exact.value = b"\1" + bytes(20)
            case 4 if entry.action.action.params:
                del entry.action.action.params[-1]
            case _ if entry.action.HasField("action"):
                entry.action.action.action_id = 1


def _text(request: p4r.WriteRequest | p4r.ReadRequest) -> str:
    return text_format.MessageToString(request, as_one_line=True)
