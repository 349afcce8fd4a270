"""Queue profiles: a port's buffer limit and its AQM (`eeon_control.port_settings` has the modes)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from eeon_control.config.presets import BUFFER_PRESETS
from eeon_control.config.qcn import Qcn
from eeon_control.config.short_forms import ShortForms, written_out
from eeon_control.model_base import Strict, in_bytes, of_text, text_schema
from eeon_control.port_settings import Aqm, DropTail
from eeon_control.units import Bytes


def _buffer(text: object) -> Bytes:
    preset = BUFFER_PRESETS.get(text) if isinstance(text, str) else None
    return in_bytes("the buffer limit", above_zero=True)(text if preset is None else preset)


BufferText = Annotated[
    Bytes,
    *of_text(_buffer, {"anyOf": [{"enum": list(BUFFER_PRESETS)}, text_schema(Bytes, examples=["300KB"])]}),
]
AqmText = Annotated[Aqm, Field(discriminator="mode"), ShortForms(), BeforeValidator(written_out)]


class Queue(Strict):
    """A queue profile: the buffer limit of a port, and its AQM."""

    buffer: BufferText
    """Maximum number of bytes in the port's queue; a packet that does not fit is dropped. `shallow` (300KB)
    and `deep` (3MB) are the papers' switches."""
    aqm: AqmText = DropTail(mode="drop_tail")
    """The AQM: a mapping with `mode`, or a short form such as `mark_threshold: auto` or `autored: 500us`."""
    qcn: Qcn | None = None
    """Congestion notification to senders. It needs `classes`. Without it nobody is told."""
