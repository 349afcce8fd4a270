"""No AQM: only the buffer limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from eeon_control.model_base import Strict
from eeon_control.port_settings.codec import WithoutParameters
from eeon_control.units import DataRate


class DropTail(Strict):
    """No AQM: only the buffer limit."""

    mode: Literal["drop_tail"]
    """`drop_tail`: the port drops only packets that do not fit into the buffer."""

    def settings_at(self, rate: DataRate) -> DropTailSettings:
        return DropTailSettings()


@dataclass(frozen=True)
class DropTailSettings(WithoutParameters):
    """Only the buffer limit."""

    action: ClassVar[str] = "drop_tail"
    text: ClassVar[str] = "drop_tail"
