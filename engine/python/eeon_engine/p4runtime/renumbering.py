"""State of one program in the ids of another program: fields and parameters keep their names.

p4c numbers key fields and parameters in the order of the source. If a new program lists them in another
order, or adds one at the front, an old id means another field, and an entry with its old ids would match
other packets or do something else. If the new program lacks a name, the field was renamed and keeps its id.
If the new program gives that id to another old name, the field has no place.
"""

from collections.abc import Iterable, Sequence

from google.protobuf.message import Message

from .errors import invalid
from .messages import p4r
from .program.schema import Action, Named, Schema

_Moves = dict[int, int | str]
"""The new ids of items whose ids change, by old id; a text instead says why an item has no place."""


class Renumbering:
    """Translates ids of one P4Info to ids of another."""

    def __init__(self, old: Schema, new: Schema) -> None:
        actions = _actions(new)
        self._fields = {
            number: _moves(f"table '{table.name}'", table.fields, new.tables[number].fields)
            for number, table in old.tables.items()
            if number in new.tables
        }
        self._params = {
            number: _moves(f"action '{action.name}'", action.params, actions[number].params)
            for number, action in _actions(old).items()
            if number in actions
        }
        self._value_sets = {
            number: _moves(f"value set '{value_set.name}'", value_set.fields, new.value_sets[number].fields)
            for number, value_set in old.value_sets.items()
            if number in new.value_sets
        }
        self._is_any = any(any(part.values()) for part in (self._fields, self._params, self._value_sets))

    def of(self, update: p4r.Update) -> p4r.Update:
        """Returns the update with the new ids. Raises INVALID_ARGUMENT for a name that has no place."""
        if not self._is_any:
            return update
        made = p4r.Update()
        made.CopyFrom(update)
        entity = made.entity
        match entity.WhichOneof("entity"):
            case "table_entry":
                self._entry(entity.table_entry)
            case "direct_counter_entry":
                self._entry(entity.direct_counter_entry.table_entry)
            case "direct_meter_entry":
                self._entry(entity.direct_meter_entry.table_entry)
            case "action_profile_member":
                self._action(entity.action_profile_member.action)
            case "value_set_entry":
                moves = self._value_sets.get(entity.value_set_entry.value_set_id, {})
                for member in entity.value_set_entry.members:
                    _renumber(member.match, "field_id", moves)
        return made

    def _entry(self, entry: p4r.TableEntry) -> None:
        _renumber(entry.match, "field_id", self._fields.get(entry.table_id, {}))
        match entry.action.WhichOneof("type"):
            case "action":
                self._action(entry.action.action)
            case "action_profile_action_set":
                for one in entry.action.action_profile_action_set.action_profile_actions:
                    self._action(one.action)

    def _action(self, action: p4r.Action) -> None:
        _renumber(action.params, "param_id", self._params.get(action.action_id, {}))


def _actions(schema: Schema) -> dict[int, Action]:
    return {
        number: choice.action for table in schema.tables.values() for number, choice in table.actions.items()
    }


def _moves(owner: str, old: Sequence[Named], new: Sequence[Named]) -> _Moves:
    ids, names = {one.name: one.id for one in new}, {one.id: one.name for one in new}
    known = {one.name for one in old}
    moves: _Moves = {}
    for one in old:
        holder = names.get(one.id)
        if one.name in ids:
            if ids[one.name] != one.id:
                moves[one.id] = ids[one.name]
        elif holder in known:
            moves[one.id] = (
                f"{owner} has no '{one.name}' in the new P4Info, which gives its id {one.id} to '{holder}'"
            )
    return moves


def _renumber(items: Iterable[Message], key: str, moves: _Moves) -> None:
    for item in items:
        place = moves.get(getattr(item, key))
        if isinstance(place, str):
            raise invalid(place)
        if place is not None:
            setattr(item, key, place)
