"""Snapshots of switches as plain values, for the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from finsy.proto import p4r
from pydantic import Base64Bytes, Field

from eeon_control.fabric.undo import Snapshot
from eeon_control.model_base import Frozen
from eeon_control.plan import Action, Entry, Exact, Lpm


class SavedSnapshot(Frozen):
    """A stored `fabric.undo.Snapshot`. Pipeline and entities are protobuf messages in base64."""

    same_program: bool
    entries: list[dict[str, object]] = Field(default_factory=list)
    pipeline: Base64Bytes | None = None
    entities: list[Base64Bytes] = Field(default_factory=list)
    may_keep: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Returns a snapshot as plain values."""
        return cls.model_construct(
            same_program=snapshot.same_program,
            entries=[entry_value(entry) for entry in snapshot.entries],
            pipeline=None if snapshot.pipeline is None else snapshot.pipeline.SerializeToString(),
            entities=[entity.SerializeToString() for entity in snapshot.entities],
            may_keep=snapshot.may_keep,
        )

    def revive(self) -> Snapshot:
        """Returns the snapshot. Raises ValueError if it was not written by `of`."""
        return Snapshot(
            self.same_program,
            [entry_from(value) for value in self.entries],
            None if self.pipeline is None else p4r.ForwardingPipelineConfig.FromString(self.pipeline),
            [p4r.Entity.FromString(entity) for entity in self.entities],
            self.may_keep,
        )


def entry_value(entry: Entry) -> dict[str, object]:
    """Returns an entry as a JSON value."""
    value: dict[str, object] = {
        "table": entry.table,
        "match": [
            [part.field, part.value]
            if isinstance(part, Exact)
            else [part.field, part.value, part.prefix_length, part.width]
            for part in entry.match
        ],
        "actions": [[action.name, dict(action.params)] for action in entry.actions],
    }
    return (
        value
        | ({"default": True} if entry.is_default else {})
        | ({"selector": True} if entry.selector else {})
    )


# A journal's values are untyped: values of the wrong shape cause a ValueError.
def entry_from(value: Mapping[str, Any]) -> Entry:
    """Returns the entry that `entry_value` wrote. Raises ValueError for other values."""
    try:
        return Entry(
            value["table"],
            tuple(Exact(*part) if len(part) == 2 else Lpm(*part) for part in value["match"]),
            tuple(Action(name, tuple(params.items())) for name, params in value["actions"]),
            value.get("default", False),
            value.get("selector", False),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an entry: {error!r}") from None
