"""No AQM: only the buffer limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from eeon_control.entries import Action
from eeon_control.model_base import Strict
from eeon_control.port_settings.codec import Settings
from eeon_control.units import DataRate, Duration


class DropTail(Strict):
    """No AQM: only the buffer limit."""

    mode: Literal["drop_tail"]
    """`drop_tail`: the port drops packets that do not fit into the buffer, and no others."""

    def settings_at(self, rate: DataRate) -> DropTailSettings:
        """The same at every speed."""
        return DropTailSettings()


@dataclass(frozen=True)
class DropTailSettings(Settings):
    """There is nothing to set."""

    action: ClassVar[str] = "drop_tail"

    def to_action(self, tick: Duration) -> Action:
        """Always the same."""
        return Action(self.action)

    @classmethod
    def from_action(cls, params: Mapping[str, int], tick: Duration) -> Self:
        """Always the same."""
        return cls()

    def describe(self) -> str:
        """`drop tail`."""
        return "drop tail"

    def summary(self) -> str:
        """`drop_tail`."""
        return "drop_tail"
