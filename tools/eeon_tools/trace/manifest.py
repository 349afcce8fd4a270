"""The manifest beside a trace: the hosts, how the trace was made, and its contents.

`shuffle.pcap` has `shuffle.pcap.manifest.json`. A capture has the addresses of senders, but not the topology
and its hosts, and a result is only useful if its input is known; the manifest has both. It is checked against
a JSON schema when it is read, because users edit such files.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import jsonschema

from eeon_tools.errors import TraceError
from eeon_tools.trace.frames import CLASS_NAMES
from eeon_tools.trace.hosts import TraceHost

FORMAT = "eeon-trace-1"
_MAX_BYTES = 16 << 20

_COUNT = {"type": "integer", "minimum": 0}
SCHEMA: dict[str, object] = {
    "type": "object",
    "required": [
        "format",
        "trace",
        "sha256",
        "topology",
        "hosts",
        "generator",
        "seed",
        "packets",
        "duration_ns",
    ],
    "properties": {
        "format": {"const": FORMAT},
        "trace": {"type": "string"},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "topology": {"type": "string"},
        "topology_file": {"type": "string"},
        "hosts": {
            "type": "array",
            "minItems": 1,
            "maxItems": 65_536,
            "items": {
                "type": "object",
                "required": ["name", "mac", "ipv4", "ipv6"],
                "properties": {key: {"type": "string"} for key in ("name", "mac", "ipv4", "ipv6")},
            },
        },
        "generator": {"type": "object"},
        "seed": _COUNT,
        "packets": {"type": "object", "additionalProperties": _COUNT},
        "duration_ns": _COUNT,
    },
}


@dataclass(frozen=True)
class Manifest:
    """All that is known of a generated trace. `generator` has its kind and all its settings.

    `topology_file`: the file of a topology that does not ship, relative to the folder of the trace.
    """

    trace: str
    sha256: str
    topology: str
    hosts: tuple[dict[str, str], ...]
    generator: dict[str, object]
    seed: int
    packets: dict[str, int]
    duration_ns: int
    frame_bytes: int
    connections: int
    topology_file: str | None = None


def manifest_path(trace: Path) -> Path:
    """Returns the path of a trace's manifest."""
    return trace.with_name(trace.name + ".manifest.json")


def describe_hosts(hosts: list[TraceHost]) -> tuple[dict[str, str], ...]:
    """Returns the hosts of a trace in the form of the manifest."""
    return tuple(
        {"name": host.name, "mac": host.mac.hex(":"), "ipv4": str(host.ipv4), "ipv6": str(host.ipv6)}
        for host in hosts
    )


def write(trace: Path, manifest: Manifest) -> Path:
    """Writes the manifest beside its trace and returns its path."""
    path = manifest_path(trace)
    values = {name: value for name, value in asdict(manifest).items() if value is not None}
    document = {"format": FORMAT, **values}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def read(trace: Path) -> Manifest | None:
    """Returns the manifest of a trace, or None if it has none. Raises TraceError for an invalid manifest."""
    path = manifest_path(trace)
    if not path.exists():
        return None
    if path.stat().st_size > _MAX_BYTES:
        raise TraceError(path, "", f"{path.stat().st_size} bytes; a manifest has at most {_MAX_BYTES}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise TraceError(path, "", f"not JSON: {error}") from error
    problem = next(iter(jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)), None)
    if problem is not None:
        raise TraceError(path, problem.json_path, problem.message)
    unknown = set(document["packets"]).difference(CLASS_NAMES)
    if unknown:
        raise TraceError(path, "$.packets", f"{sorted(unknown)[0]!r} is not a packet class")
    fields = {name: document.get(name, 0) for name in Manifest.__dataclass_fields__}
    fields["topology_file"] = document.get("topology_file")
    return Manifest(**{**fields, "hosts": tuple(document["hosts"])})


def topology_of(trace: Path) -> str | None:
    """Returns the name or the file of the topology that a trace was made for, as for -t; None if the trace
    has no manifest. Raises TraceError if the file does not exist."""
    manifest = read(trace)
    if manifest is None or manifest.topology_file is None:
        return None if manifest is None else manifest.topology
    path = trace.parent / manifest.topology_file
    if not path.is_file():
        raise TraceError(
            manifest_path(trace),
            "$.topology_file",
            f"{path}, the topology of this trace ({manifest.topology}), does not exist; give -t FILE",
        )
    return str(path)


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
