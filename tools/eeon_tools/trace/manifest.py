"""The manifest beside a trace: the hosts, how the trace was made, and its contents.

`shuffle.pcap` has `shuffle.pcap.manifest.json`. A capture has the addresses of senders, but not the topology
and its hosts, and a result is only useful if its input is known; the manifest has both. It is checked when it
is read, because users edit such files.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from eeon_control.outputs import write_text
from pydantic import BaseModel, Field, ValidationError

from eeon_tools.errors import TraceError
from eeon_tools.trace.frames import CLASS_NAMES

_MAX_BYTES = 16 << 20

Count = Annotated[int, Field(ge=0)]


class ManifestHost(BaseModel):
    """A host that sends packets of the trace."""

    name: str
    mac: str
    ipv4: str
    ipv6: str


class Manifest(BaseModel, frozen=True, strict=True):
    """All that is known of a generated trace. `generator` has its kind and all its settings.

    `topology_file`: the file of a topology that does not ship, relative to the folder of the trace.
    """

    format: Literal["eeon-trace-1"]
    trace: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    topology: str
    hosts: Annotated[list[ManifestHost], Field(min_length=1, max_length=65_536)]
    generator: dict[str, object]
    seed: Count
    packets: dict[str, Count]
    duration_ns: Count
    frame_bytes: Count = 0
    connections: Count = 0
    topology_file: str | None = None


def manifest_path(trace: Path) -> Path:
    return trace.with_name(trace.name + ".manifest.json")


def write(trace: Path, manifest: Manifest) -> None:
    """Writes the manifest beside its trace."""
    write_text(manifest_path(trace), manifest.model_dump_json(indent=2, exclude_none=True) + "\n")


def read(trace: Path) -> Manifest | None:
    """Returns the manifest of a trace, or None if it has none. Raises TraceError for an invalid manifest."""
    path = manifest_path(trace)
    if not path.exists():
        return None
    if path.stat().st_size > _MAX_BYTES:
        raise TraceError(path, "", f"{path.stat().st_size} bytes; a manifest has at most {_MAX_BYTES}")
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors()[0]
        if problem["type"] == "json_invalid":
            raise TraceError(path, "", f"not JSON: {problem['ctx']['error']}") from error
        raise TraceError(path, ".".join(map(str, ("$", *problem["loc"]))), problem["msg"]) from error
    if unknown := set(manifest.packets).difference(CLASS_NAMES):
        raise TraceError(path, "$.packets", f"{sorted(unknown)[0]!r} is not a packet class")
    return manifest


def topology_of(trace: Path) -> str | None:
    """Returns the name or the file of the topology that a trace was made for, as for -t; None if the trace
    has no manifest. Raises TraceError if the file does not exist."""
    manifest = read(trace)
    if manifest is None or manifest.topology_file is None:
        return None if manifest is None else manifest.topology
    path = trace.parent / manifest.topology_file
    if not path.is_file():
        why = f"{path}, the topology of this trace ({manifest.topology}), does not exist; give -t FILE"
        raise TraceError(manifest_path(trace), "$.topology_file", why)
    return str(path)


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
