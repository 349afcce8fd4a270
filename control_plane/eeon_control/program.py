"""The compiled P4 program: BMv2 JSON, P4Info, and where they came from. Compiled by p4src/, never here."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from google.protobuf.message import Message

from eeon_control import data
from eeon_control.errors import DataNotFound

if TYPE_CHECKING:
    from finsy import P4Schema
    from finsy.proto import p4i

_JSON = "eeon.json"
_P4INFO = "eeon.p4info.txtpb"
_PROVENANCE = "provenance.json"


@dataclass(frozen=True)
class Program:
    """One compiled program.

    `digest`: SHA-256 of the JSON, in hex; what a report writes down. `provenance`: compiler version and the
    digests of the sources, empty where the file is missing.
    """

    json: bytes
    p4info: str
    digest: str
    provenance: dict[str, object]
    json_path: Path
    p4info_path: Path

    def schema(self) -> P4Schema:
        """Returns finsy's view of the program: names, ids and widths of everything a controller can touch. It
        is shared: nobody may change it."""
        return _schema(self.p4info_path, self.json_path, self.digest, self.p4info)

    @functools.cached_property
    def identity(self) -> str:
        """What the program does, as `identity` has it: what a revision pins."""
        return identity(self.json, self.schema().p4info)


@functools.lru_cache(maxsize=2)
def _schema(p4info_path: Path, json_path: Path, digest: str, p4info: str) -> P4Schema:
    """Reads a schema anew where what is in its files has changed."""
    from finsy import P4Schema  # with gRPC, which a twin does without

    return P4Schema(p4info_path, json_path)


def load(folder: Path | None = None) -> Program:
    """Reads the program that ships, or the one of another folder. Raises DataNotFound."""
    place = folder if folder is not None else data.folder("p4src")
    parts: dict[str, bytes] = {}
    for name in (_JSON, _P4INFO):
        try:
            parts[name] = (place / name).read_bytes()
        except OSError as error:
            raise DataNotFound(
                f"{place / name}: {error.strerror}; run `make p4` where p4c-bm2-ss is on PATH, "
                "or take the compiled files of a release"
            ) from None
    provenance_path = place / _PROVENANCE
    provenance = json.loads(provenance_path.read_text()) if provenance_path.is_file() else {}
    return Program(
        json=parts[_JSON],
        p4info=parts[_P4INFO].decode(),
        digest=hashlib.sha256(parts[_JSON]).hexdigest(),
        provenance=provenance,
        json_path=place / _JSON,
        p4info_path=place / _P4INFO,
    )


def identity(program_json: bytes, info: p4i.P4Info) -> str:
    """Returns the SHA-256, in hex, of what a program does and of what a controller can touch of it.

    Left out is what a comment in a source changes: `source_info`, files' names and lines, also in the names
    that p4c makes of them for tables and actions that have none; and P4Info's documentation, to which
    `@format` belongs: how a value is shown.
    """
    touched = _without_documentation(info).SerializeToString(deterministic=True)
    return _identity(program_json, touched)


def only_adds(held: p4i.P4Info, new: p4i.P4Info, *, roles: bool = True) -> bool:
    """Returns whether all that can be touched of the program `held` is in `new`, the same, by the same ids.

    Without `roles`, whatever role it belongs to.
    """
    after = _without_documentation(new, roles=roles)
    for field, value in _without_documentation(held, roles=roles).ListFields():
        there = getattr(after, field.name)
        if value != there if isinstance(value, Message) else any(one not in there for one in value):
            return False
    return True


@functools.lru_cache(maxsize=8)
def _identity(program_json: bytes, touched: bytes) -> str:
    try:
        value = json.loads(program_json)
        files = {PurePosixPath(name).stem for name in _file_names(value)}
        made = re.compile(rf"(?:tbl_)?(?:{'|'.join(map(re.escape, sorted(files)))})\d+(?:_\d+)?")
        does = json.dumps(_doing(value, made, {}), sort_keys=True).encode()
    except (ValueError, RecursionError):  # not what p4c makes for BMv2
        does = program_json
    return hashlib.sha256(hashlib.sha256(does).digest() + touched).hexdigest()


def _file_names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        name = value.get("filename")
        if isinstance(name, str):
            yield name
        for part in value.values():
            yield from _file_names(part)
    elif isinstance(value, list):
        for part in value:
            yield from _file_names(part)


def _doing(value: object, made: re.Pattern[str], numbers: dict[str, str]) -> object:
    """Returns a program's JSON without places in sources; names made of places become their numbers."""
    match value:
        case dict():
            return {
                str(_doing(key, made, numbers)): _doing(part, made, numbers)
                for key, part in value.items()
                if key not in ("source_info", "program")
            }
        case list():
            return [_doing(part, made, numbers) for part in value]
        case str() if made.fullmatch(value):
            return numbers.setdefault(value, f"@{len(numbers)}")
    return value


def roles_of(info: p4i.P4Info) -> dict[str, str]:
    """Returns alias -> role, of the objects that belong to one by `@p4runtime_role("name")`."""
    found = {}
    for _, objects in info.ListFields():
        for one in () if isinstance(objects, Message) else objects:
            for text in one.preamble.annotations if "preamble" in one.DESCRIPTOR.fields_by_name else ():
                if match := _ROLE.fullmatch(text):
                    found[one.preamble.alias] = match[1]
    return found


_ROLE = re.compile(r'@p4runtime_role\(\s*"([^"]+)"\s*\)')


def _without_documentation(info: p4i.P4Info, *, roles: bool = True) -> p4i.P4Info:
    bare = type(info)()
    bare.CopyFrom(info)
    bare.ClearField("pkg_info")
    _drop_documentation(bare, roles)
    return bare


def _left_out(annotation: str, roles: bool) -> bool:
    return annotation.startswith("@format(") or (not roles and _ROLE.fullmatch(annotation) is not None)


def _drop_documentation(message: Message, roles: bool) -> None:
    for field, value in message.ListFields():
        if field.name in ("doc", "annotation_locations"):
            message.ClearField(field.name)
        elif field.name == "annotations":
            value[:] = [text for text in value if not _left_out(text, roles)]
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for part in (value,) if isinstance(value, Message) else value:
                _drop_documentation(part, roles)
