"""Reads entries for programs other than E-EON's from a file, as one P4Runtime `WriteRequest`.

There are two forms. A `.json` file has the form of the P4 tutorials and p4-utils: `table_entries`,
`multicast_group_entries`, `clone_session_entries`, with P4Info names and values as numbers or text. Any other
file is a `p4.v1.WriteRequest` in protobuf's text format, which can express all of P4Runtime.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from eeon_control.validation import did_you_mean
from finsy import (
    P4CloneSessionEntry,
    P4MulticastGroupEntry,
    P4Schema,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
)
from finsy.p4schema import P4MatchType
from finsy.proto import p4i, p4r
from google.protobuf import text_format

from eeon_tools.errors import InputError
from eeon_tools.json_files import content_of, parse_json

_MAX_FILE_BYTES = 16 << 20
_ENTRY_KEYS = {
    "table_entries": ("table", "match", "action_name", "action_params", "default_action", "priority"),
    "multicast_group_entries": ("multicast_group_id", "replicas"),
    "clone_session_entries": ("clone_session_id", "replicas", "packet_length_bytes"),
}
_REPLICAS = '"replicas": [{"egress_port": 1, "instance": 1}]'
_EXAMPLES = {
    "table_entries": '{"table": "t", "match": {"field": 1}, "action_name": "a", "action_params": {"x": 1}}',
    "multicast_group_entries": f'{{"multicast_group_id": 1, {_REPLICAS}}}',
    "clone_session_entries": f'{{"clone_session_id": 1, {_REPLICAS}}}',
}
_FILE_KEYS = ("target", "p4info", "bmv2_json", *_ENTRY_KEYS)
_TARGET = "bmv2"
_P4C_WRITES = "p4c-bm2-ss --p4runtime-files FILE.txtpb writes it"
_COMMENTS = ("comment", "description")

# JSON written by users: any wrong shape ends as one of the errors that `_of_json` names.
_Written: TypeAlias = Any


def read_p4info(path: Path) -> p4i.P4Info:
    """Returns a P4Info in text format. Raises InputError for a file without one."""
    try:
        return text_format.Parse(_read(path), p4i.P4Info())
    except text_format.ParseError as error:
        raise InputError(path, "", f"is not P4Info in text format: {error}; {_P4C_WRITES}") from error


def read_entries(path: Path, p4info: p4i.P4Info, may_be_empty: bool = False) -> p4r.WriteRequest:
    """Returns the `WriteRequest` in a file. Raises InputError, also for a file without entries unless it
    `may_be_empty`."""
    text = _read(path)
    if path.suffix == ".json":
        return _of_json(path, text, P4Schema(p4info), may_be_empty)
    try:
        request = text_format.Parse(text, p4r.WriteRequest())
    except text_format.ParseError as error:
        raise InputError(path, "", f"is not a p4.v1.WriteRequest in text format: {error}") from error
    for update in request.updates:
        if update.type == p4r.Update.UNSPECIFIED:
            update.type = p4r.Update.INSERT
    return request


def _read(path: Path) -> str:
    try:
        return content_of(path, _MAX_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "", f"is not text: {error}; {_P4C_WRITES}") from error


# ---- the tutorials' form


def _of_json(path: Path, text: str, schema: P4Schema, may_be_empty: bool) -> p4r.WriteRequest:
    document = parse_json(path, text)
    if not isinstance(document, dict):
        raise InputError(path, "", "is not an object with table_entries")
    _check_keys(path, "", document, _FILE_KEYS)
    if (target := document.get("target", _TARGET)) != _TARGET:
        raise InputError(path, "target", f"{target!r}: only entries for {_TARGET} are supported")
    request = p4r.WriteRequest()
    makers = {
        "table_entries": _table_entry,
        "multicast_group_entries": _multicast_group,
        "clone_session_entries": _clone_session,
    }
    for kind, maker in makers.items():
        items = document.get(kind, [])
        for number, item in enumerate(items if isinstance(items, list) else [items], 1):
            if not isinstance(item, dict):
                listed = ", ".join(_ENTRY_KEYS[kind])
                raise InputError(path, f"{kind} {number}", f"{item!r}: write an object with {listed}")
            _check_keys(path, f"{kind} {number}", item, _ENTRY_KEYS[kind])
            try:
                update = maker(item, schema)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                reason = f"{error} is missing" if type(error) is KeyError else str(error)
                if isinstance(error, TypeError | AttributeError):
                    reason = f"has an invalid part; write it like {_EXAMPLES[kind]}"
                raise InputError(path, f"{kind} {number}", reason) from error
            request.updates.append(update)
    if not request.updates and not may_be_empty:
        raise InputError(path, "", f"has none of {', '.join(makers)}")
    return request


def _check_keys(path: Path, place: str, item: Iterable[str], known: Sequence[str]) -> None:
    """Raises InputError for keys that would be ignored. Comments are allowed."""
    for key in item:
        if key not in known and key not in _COMMENTS and not key.startswith(("_", "#", "//")):
            listed = ", ".join(known)
            raise InputError(
                path, place, f"unknown key {key!r}{did_you_mean(key, known)}; there are {listed}"
            )


def _table_entry(item: Mapping[str, _Written], schema: P4Schema) -> p4r.Update:
    table = schema.tables[item["table"]]
    is_default = item.get("default_action", False)
    if not isinstance(is_default, bool):
        raise ValueError(f"default_action {is_default!r}: write true or false, without quotation marks")
    if is_default and item.get("match"):
        raise ValueError("a default action has no match; leave out match or default_action")
    match = {
        name: _match_value(table.match_fields[name].match_type, value)
        for name, value in (item.get("match") or {}).items()
    }
    params = {name: _value(value) for name, value in (item.get("action_params") or {}).items()}
    entry = P4TableEntry(
        item["table"],
        match=None if is_default else P4TableMatch(match),
        action=P4TableAction(item["action_name"], **params),
        is_default_action=is_default,
        priority=_whole("priority", item.get("priority") or 0),
    )
    kind = p4r.Update.MODIFY if is_default else p4r.Update.INSERT
    return p4r.Update(type=kind, entity=entry.encode(schema))


def _match_value(kind: P4MatchType | str, value: _Written) -> object:
    if kind in (P4MatchType.EXACT, P4MatchType.OPTIONAL):
        # Some files have an exact value as a list of one.
        return _value(value[0] if isinstance(value, list) and len(value) == 1 else value)
    if kind == P4MatchType.LPM and isinstance(value, str) and "/" in value:
        return value
    if not isinstance(value, list) or len(value) != 2:
        is_lpm, is_ternary = kind == P4MatchType.LPM, kind == P4MatchType.TERNARY
        form = "value, prefix length" if is_lpm else "value, mask" if is_ternary else "low, high"
        raise ValueError(f"match {value!r}: write [{form}]")
    first, second = value
    if kind == P4MatchType.LPM:
        return f"{first}/{_whole('prefix length', second)}"
    return _value(first), _value(second)


def _value(value: object) -> int | str:
    """Returns a number, or a number or an address as text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"value {value!r}: write a number, or a number or an address as text")
    return value


def _whole(what: str, value: _Written) -> int:
    """Returns a whole number, given as a number or as text."""
    if isinstance(value, bool) or not (
        isinstance(value, int) or (isinstance(value, str) and value.isdecimal())
    ):
        raise ValueError(f"{what} {value!r}: write a whole number")
    return int(value)


def _replicas(item: Mapping[str, _Written]) -> Iterable[tuple[int, int]]:
    return [
        (_whole("egress_port", one["egress_port"]), _whole("instance", one.get("instance", 0)))
        for one in item["replicas"]
    ]


def _multicast_group(item: Mapping[str, _Written], schema: P4Schema) -> p4r.Update:
    group = P4MulticastGroupEntry(
        _whole("multicast_group_id", item["multicast_group_id"]), replicas=list(_replicas(item))
    )
    return p4r.Update(type=p4r.Update.INSERT, entity=group.encode(schema))


def _clone_session(item: Mapping[str, _Written], schema: P4Schema) -> p4r.Update:
    session = P4CloneSessionEntry(
        _whole("clone_session_id", item["clone_session_id"]),
        packet_length_bytes=_whole("packet_length_bytes", item.get("packet_length_bytes", 0)),
        replicas=list(_replicas(item)),
    )
    return p4r.Update(type=p4r.Update.INSERT, entity=session.encode(schema))
