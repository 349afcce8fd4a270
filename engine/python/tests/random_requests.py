"""Random P4Runtime requests for a valid P4Info, from bytes that hypothesis chooses. For tests only.

The fuzzer's `Maker` makes entities, so that most of them are valid or nearly so; `changed` turns them into
meaningless messages.
"""

import sys
from pathlib import Path
from random import Random
from typing import TypeVar

from finsy.proto import p4i, p4r
from google.protobuf.message import Message
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

from server_fuzz import messages
from server_fuzz.draws import Draws
from server_fuzz.entities import Maker

_BYTES = 64
"""Number of random bytes for an entity. Most entities need fewer choices."""

_Message = TypeVar("_Message", bound=Message)


@st.composite
def entities(draw: st.DrawFn, info: p4i.P4Info) -> p4r.Entity:
    """Makes an entity as the fuzzer of the server does."""
    made: p4r.Entity = Maker(info, Draws(draw(st.binary(min_size=_BYTES, max_size=_BYTES)))).entity()
    return made


@st.composite
def batches(draw: st.DrawFn, info: p4i.P4Info, most: int = 12) -> list[tuple[int, p4r.Entity]]:
    """Makes up to `most` updates; entities are often repeated, to be modified or deleted."""
    updates: list[tuple[int, p4r.Entity]] = []
    for _ in range(draw(st.integers(1, most))):
        again = updates and draw(st.integers(0, 2)) == 0
        one = draw(st.sampled_from(updates))[1] if again else draw(entities(info))
        updates.append((draw(st.sampled_from([1, 1, 2, 2, 3])), one))
    return updates


def changed(message: _Message, rng: Random) -> _Message:
    """Changes up to twenty fields of a message, at any depth, so that it loses its meaning."""
    for _ in range(rng.randrange(20)):
        messages.change(message, Draws(rng.randbytes(_BYTES)))
    return message


def anything(info: p4i.P4Info, rng: Random) -> p4r.Entity:
    """Makes an entity that no honest client writes, with existing ids."""
    return changed(Maker(info, Draws(rng.randbytes(_BYTES))).entity(), rng)
