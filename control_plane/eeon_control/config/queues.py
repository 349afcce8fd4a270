"""Queue profiles: a port's buffer limit and its AQM (`eeon_control.port_settings` has the modes)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from eeon_control.config.presets import BUFFER_PRESETS
from eeon_control.config.qcn import Qcn
from eeon_control.config.short_forms import ShortForms, written_out
from eeon_control.errors import UnitError
from eeon_control.model_base import FULL_FRAME_BYTES, U32_MAX, Strict, of_text, text_schema
from eeon_control.port_settings import (
    Aqm,
    BufferLimit,
    BufferLimitBesideHeld,
    BufferLimitInPackets,
    DropTail,
    Settings,
)
from eeon_control.units import Bytes, Packets, parse_size
from eeon_control.validation import did_you_mean


def _buffer(text: object) -> Bytes | Packets:
    preset = BUFFER_PRESETS.get(text) if isinstance(text, str) else None
    try:
        size = parse_size(text if preset is None else preset)
    except UnitError as error:
        raise ValueError(f"{error}{did_you_mean(str(text), BUFFER_PRESETS)}") from None
    if not 0 < size <= U32_MAX:
        raise ValueError(f"the buffer limit must be above zero and at most {U32_MAX} (32 bits)")
    return size


_BUFFER_SCHEMA = text_schema(Bytes, Packets, examples=["300KB", "200pkt"])
BufferText = Annotated[
    Bytes | Packets, *of_text(_buffer, {"anyOf": [{"enum": list(BUFFER_PRESETS)}, _BUFFER_SCHEMA]})
]
AqmText = Annotated[Aqm, Field(discriminator="mode"), ShortForms(), BeforeValidator(written_out)]


class Queue(Strict):
    """A queue profile: the buffer limit of a port, and its AQM."""

    buffer: BufferText
    """Maximum number of bytes in the port's queue, or of packets (`200pkt`), as ns-2 counts; a packet that
    does not fit is dropped. `shallow` (300KB) and `deep` (3MB) are the papers' switches."""
    held_packets: Literal["inside", "outside"] = "inside"
    """The place of packets that EEE holds: `inside` the buffer, as in a switch with one memory, or `outside`,
    in a separate layer without limit, as in the thesis' simulator, so that the buffer has room for packets
    after the hold. The AQM sees both. `outside` needs a buffer in bytes."""
    aqm: AqmText = DropTail(mode="drop_tail")
    """The AQM: a mapping with `mode`, or a short form such as `mark_threshold: auto` or `autored: 500us`."""
    scope: Literal["queue", "port"] | None = None
    """The scope of the AQM's comparisons, averages and state: each `queue` separately, or all queues of the
    `port` together. The default is `queue` with `classes` and `port` without. `queue` needs `classes`."""
    class_aqm: Annotated[dict[str, AqmText], Field(default_factory=dict)]
    """AQMs by class name, for traffic classes whose AQM differs from `aqm`. They need `scope: queue`."""
    qcn: Qcn | None = None
    """Congestion notification to senders. It needs `classes`. Without this key, no messages are sent."""

    @model_validator(mode="after")
    def _outside_of_bytes(self) -> Queue:
        if self.held_packets == "outside" and isinstance(self.buffer, Packets):
            raise ValueError(
                f"held_packets: outside needs a buffer in bytes, not {self.buffer}; as full frames, these "
                f"are {self.buffer_bytes}"
            )
        return self

    @property
    def aqms(self) -> tuple[Aqm, ...]:
        return (self.aqm, *self.class_aqm.values())

    @property
    def buffer_bytes(self) -> Bytes:
        """The buffer in bytes; a limit in packets counts as full frames."""
        if isinstance(self.buffer, Packets):
            return Bytes(self.buffer * FULL_FRAME_BYTES)
        return self.buffer

    def limit(self) -> Settings:
        """Returns the buffer limit as a port's settings."""
        if isinstance(self.buffer, Packets):
            return BufferLimitInPackets(self.buffer)
        return (BufferLimitBesideHeld if self.held_packets == "outside" else BufferLimit)(self.buffer)
