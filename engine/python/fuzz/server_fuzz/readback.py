"""Expected responses to a Read of written entities: the same entities, in the shortest form."""

from typing import Any

from finsy.proto import p4r

_ANNOTATIONS = frozenset({"metadata", "payload"})
_KEYS = {
    "table_entry": ("table_id", "match", "priority"),
    "action_profile_member": ("action_profile_id", "member_id"),
    "register_entry": ("register_id", "index"),
    "counter_entry": ("counter_id", "index"),
    "multicast_group_entry": ("multicast_group_id",),
    "clone_session_entry": ("session_id",),
}
"""The fields that name an entity, by its kind."""


def canonical(message: Any) -> Any:
    """Returns a copy with numbers in their shortest form, and with unordered items sorted."""
    copy = type(message).FromString(message.SerializeToString())
    _shorten(copy)
    return copy


def _shorten(message: Any) -> None:
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in value if field.is_repeated else [value]:
                _shorten(item)
            key = {"match": "field_id", "params": "param_id"}.get(field.name)
            if key is not None:
                ordered = sorted(value, key=lambda item: getattr(item, key))
                kept = [type(item).FromString(item.SerializeToString()) for item in ordered]
                del value[:]
                value.extend(kept)
        elif field.type == field.TYPE_BYTES and not field.is_repeated and field.name not in _ANNOTATIONS:
            setattr(message, field.name, value.lstrip(b"\0") or (b"\0" if value else b""))


class WrittenEntities:
    """The last entity written under each key that a read can return."""

    def __init__(self, info: Any) -> None:
        self._bit_registers = {
            item.preamble.id for item in info.registers if item.type_spec.bitstring.HasField("bit")
        }
        self._units = {item.preamble.id: item.spec.unit for item in info.counters}
        self._written: dict[bytes, tuple[Any, Any]] = {}

    def forget(self) -> None:
        """Forgets all entities, after another client may have changed them."""
        self._written.clear()

    def note(self, kind: int, entity: Any) -> None:
        """Records a successful update."""
        found = self._key_and_answer(canonical(entity))
        if found is None:
            self._forget_array(entity)
            return
        key, answer = found
        name = key.SerializeToString(deterministic=True)
        is_entry = kind == p4r.Update.MODIFY and entity.HasField("table_entry")
        if is_entry and not entity.table_entry.HasField("action"):
            # It leaves the action unchanged, which is known only if it was recorded.
            known = self._written.get(name)
            if known is None or known[1] is None:
                return
            answer.table_entry.action.CopyFrom(known[1].table_entry.action)
        self._written[name] = (key, None if kind == p4r.Update.DELETE else answer)

    def _forget_array(self, entity: Any) -> None:
        """Forgets all cells of this kind of array, because a write without an index reaches every cell."""
        kind = entity.WhichOneof("entity")
        if kind in ("register_entry", "counter_entry"):
            self._written = {
                name: item for name, item in self._written.items() if item[0].WhichOneof("entity") != kind
            }

    def expected(self) -> list[tuple[Any, Any]]:
        """Returns requests and their expected responses; None if nothing must exist."""
        return list(self._written.values())

    def _key_and_answer(self, entity: Any) -> tuple[Any, Any] | None:
        """Returns the request for a written entity, and its answer; None if a read may differ."""
        key = p4r.Entity()
        inside, asked, kind = entity, key, ""
        for choice in ("entity", "type"):
            if choice in inside.DESCRIPTOR.oneofs_by_name:
                kind = inside.WhichOneof(choice)
                inside, asked = getattr(inside, kind), getattr(asked, kind)
        if kind not in _KEYS or not self._is_known(kind, inside):
            return None
        asked.MergeFrom(type(asked)(**{name: getattr(inside, name) for name in _KEYS[kind]}))
        return key, entity

    def _is_known(self, kind: str, inside: Any) -> bool:
        """Returns whether a read returns the entity as it was written; removes what this read leaves out."""
        match kind:
            case "table_entry":
                for name in ("counter_data", "meter_config", "time_since_last_hit"):
                    inside.ClearField(name)
                # Without fields, a read asks for the whole table.
                return bool(inside.match) and not inside.is_default_action
            case "register_entry":
                return inside.register_id in self._bit_registers and bool(inside.HasField("index"))
            case "counter_entry":
                for name, unit in (("byte_count", 2), ("packet_count", 1)):
                    if self._units[inside.counter_id] == unit and inside.HasField("data"):
                        inside.data.ClearField(name)
                return bool(inside.HasField("index") and inside.HasField("data"))
        return True
