"""Random entities of a program: those of the differential tester, and others that it cannot send to BMv2."""

from finsy.proto import p4i, p4r

from differential.entities import DELETE, INSERT, MODIFY, Entities, Update

from . import messages
from .draws import Draws
from .world import World

_KINDS = ("counter", "direct_counter", "meter", "direct_meter", "register", "value_set", "digest")
_VALUES = {
    "index": (0, 0, 1, 3),
    "field_id": (1, 2),
    **dict.fromkeys(("value", "mask", "low", "high", "bitstring"), (b"\1", b"\0", b"\2", b"\x12\x34")),
    **dict.fromkeys(("cir", "cburst", "pir", "pburst"), (1, 5, 2**31)),
    "eburst": (0, 0, 0, 1),
    **dict.fromkeys(("max_timeout_ns", "max_list_size", "ack_timeout_ns", "idle_timeout_ns"), (0, 1, 10**9)),
}
"""Values that a server may accept, by name of the field; mutations give others."""
_GROUPS = (1, 2, 3, 0, 32_767, 32_768, 2**32 - 1)


class Maker(Entities):
    """A generator of entities: most are valid or nearly so, and keys are repeated."""

    def __init__(self, world: World, draws: Draws) -> None:
        super().__init__(world.choices(draws), world.info)
        self._draws = draws
        objects = ("tables", "actions", "action_profiles", "counters", "meters", "registers", "digests")
        ids = {f"{kind[:-1]}_id": world.ids(kind) for kind in (*objects, "value_sets")}
        self._values = {**_VALUES, **ids}

    def update(self) -> Update:
        """Returns an update of any kind, usually one that the switch accepts."""
        draws, profiles = self._draws, self._info.action_profiles
        update: Update | None = None
        match draws.randrange(8):
            case 0 | 1:
                kind = draws.choice([kind for kind in _KINDS if getattr(self._info, f"{kind}s")])
                update = INSERT if kind == "digest" else MODIFY, self._of_kind(kind)
            case 2:
                make = draws.choice((self._multicast, self._clone_session))
                update = draws.choice((INSERT, INSERT, MODIFY, DELETE)), make(draws.choice(_GROUPS))
            case 3 | 4 if profiles:
                profile = draws.choice(profiles)
                if profile.preamble.id not in self._with_one_shots or draws.one_in(8):
                    update = draws.choice((self._member, self._profile_change))(profile)
            case _:
                update = self._change(draws.choice(self._info.tables))
        kind, entity = update or (MODIFY, self._of_kind("counter"))
        if entity.HasField("table_entry") and draws.one_in(3):
            messages.add(entity.table_entry, draws, self._values)
        return draws.choice((INSERT, MODIFY, DELETE)) if draws.one_in(8) else kind, entity

    def _room(self, table: object) -> int:
        return 1

    def _set_action(self, table: p4i.Table, entry: p4r.TableEntry) -> None:
        profile = table.implementation_id
        if profile and not self._members[profile] and self._draws.one_in(2):
            # A profile has one-shots, or members and groups.
            self._with_one_shots.add(profile)
        super()._set_action(table, entry)

    def _of_kind(self, kind: str) -> p4r.Entity:
        made = p4r.Entity()
        inside = getattr(made, f"{kind}_entry")
        messages.fill(inside, self._draws, self._values)
        if "meter" in kind and not self._draws.one_in(16):
            # It is refused.
            inside.ClearField("counter_data")
        if kind.startswith("direct"):
            table = self._draws.choice([table for table in self._info.tables if table.direct_resource_ids])
            entries = list(self._entries[table.preamble.id].values()) or [self._entry(table).table_entry]
            inside.table_entry.CopyFrom(self._draws.choice(entries))
        return made
