"""One table entry in the books: its key, where it is in the engine, and the message that a read gives
back."""

from dataclasses import dataclass
from typing import Any

from .action_profiles import Group, Member, OneShot
from .translate import ActionCall, Key

Target = ActionCall | Member | Group | OneShot


@dataclass(eq=False)
class Entry:
    """`message` is canonical, has no counts and no meter rates, and is not shared with a client."""

    key: Key
    handle: int
    target: Target
    message: Any


def copy_metadata(source: Any, target: Any) -> None:
    """What belongs to the client and means nothing here."""
    target.metadata = source.metadata
    target.controller_metadata = source.controller_metadata


def passes(request: Any, entry: Any) -> bool:
    """Whether an entry passes the filters of a read (§9.1.6)."""
    if request.HasField("action") and request.action.action.action_id not in (
        0,
        entry.action.action.action_id,
    ):
        return False
    return (
        request.priority in (0, entry.priority)
        and request.metadata in (b"", entry.metadata)
        and request.controller_metadata in (0, entry.controller_metadata)
    )


def text(key: Key) -> str:
    """A key for an error message."""
    fields = ", ".join(f"{match.field_id}: {_one_line(match)}" for match in key.fields)
    return f"{{{fields}}} priority {key.priority}"


def _one_line(match: Any) -> str:
    kind = match.WhichOneof("field_match_type")
    value = getattr(match, kind)
    match kind:
        case "lpm":
            return f"0x{value.value.hex()}/{value.prefix_len}"
        case "ternary":
            return f"0x{value.value.hex()}&0x{value.mask.hex()}"
        case "range":
            return f"0x{value.low.hex()}..0x{value.high.hex()}"
        case _:
            return f"0x{value.value.hex()}"
