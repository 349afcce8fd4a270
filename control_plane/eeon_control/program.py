"""The compiled P4 program: BMv2 JSON, P4Info, and where they came from. Compiled by p4src/, never here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from finsy import P4Schema

from eeon_control import data
from eeon_control.errors import DataNotFound

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
        """finsy's view of the program: names, ids and widths of everything a controller can touch."""
        return P4Schema(self.p4info_path, self.json_path)


def load(folder: Path | None = None) -> Program:
    """Read the program that ships, or the one of another folder. Raises DataNotFound."""
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
