"""Snapshots of switches as plain values, for the journal."""

from __future__ import annotations

from typing import Self

from finsy.proto import p4r
from pydantic import Base64Bytes, Field

from eeon_control.fabric.undo import Snapshot
from eeon_control.model_base import Frozen
from eeon_control.plan import Entry


class SavedSnapshot(Frozen):
    """A stored `fabric.undo.Snapshot`. Pipeline and entities are protobuf messages in base64."""

    same_program: bool
    entries: list[dict[str, object]] = Field(default_factory=list)
    pipeline: Base64Bytes | None = None
    entities: list[Base64Bytes] = Field(default_factory=list)
    may_keep: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        return cls.model_construct(
            same_program=snapshot.same_program,
            entries=[entry.as_value() for entry in snapshot.entries],
            pipeline=None if snapshot.pipeline is None else snapshot.pipeline.SerializeToString(),
            entities=[entity.SerializeToString() for entity in snapshot.entities],
            may_keep=snapshot.may_keep,
        )

    def revive(self) -> Snapshot:
        """Returns the snapshot. Raises ValueError if it was not written by `of`."""
        return Snapshot(
            self.same_program,
            [Entry.of_value(value) for value in self.entries],
            None if self.pipeline is None else p4r.ForwardingPipelineConfig.FromString(self.pipeline),
            [p4r.Entity.FromString(entity) for entity in self.entities],
            self.may_keep,
        )
