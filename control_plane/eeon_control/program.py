"""The compiled P4 program: BMv2 JSON, P4Info, and their provenance. It is compiled in p4src/, never here."""

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

    `digest`: SHA-256 of the JSON, in hex, for reports. `provenance`: compiler version and digests of the
    sources, empty if the file is missing.
    """

    json: bytes
    p4info: str
    digest: str
    provenance: dict[str, object]
    json_path: Path
    p4info_path: Path

    def schema(self) -> P4Schema:
        """Returns finsy's schema of the program, shared and not to be changed: names, ids and widths."""
        return _schema(self.p4info_path, self.json_path, self.digest, self.p4info)

    @functools.cached_property
    def identity(self) -> str:
        """The program's identity (see the function `identity`), which a revision pins."""
        return identity(self.json, self.schema().p4info)


@functools.lru_cache(maxsize=2)
def _schema(p4info_path: Path, json_path: Path, digest: str, p4info: str) -> P4Schema:
    """Reads a schema. The cache is keyed by the files' contents, so that changed files are read again."""
    from finsy import P4Schema  # imports gRPC, which a twin does not need

    return P4Schema(p4info_path, json_path)


def load(folder: Path | None = None) -> Program:
    """Reads the packaged program, or that of another folder. Raises DataNotFound."""
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
    """Returns the SHA-256, in hex, of a program's behaviour and of the objects that a controller can access.

    Excludes everything that a comment in a source changes: `source_info`, and file names and lines, also
    in names that p4c derives from them for unnamed tables and actions. Excludes P4Info's documentation,
    including `@format`, which says how a value is shown.
    """
    touched = _without_documentation(info).SerializeToString(deterministic=True)
    return _identity(program_json, touched)


def only_adds(held: p4i.P4Info, new: p4i.P4Info, *, roles: bool = True) -> bool:
    """Returns whether `new` has all objects of the program `held` unchanged, with the same ids.

    Without `roles`, the objects' roles are ignored.
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
    except (ValueError, RecursionError):  # not p4c's output for BMv2
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
    """Returns a program's JSON without source positions; names derived from positions become numbers."""
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
    """Returns alias -> role, for the objects with an annotation `@p4runtime_role("name")`."""
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
