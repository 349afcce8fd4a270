"""The report as files: README.md, figures/NAME.svg, data/claims.json, each experiment's rows and manifest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eeon_tools.errors import InputError
from eeon_tools.experiment import store
from eeon_tools.experiment.report import markdown, webpage
from eeon_tools.experiment.report.document import document
from eeon_tools.experiment.report.family import Family
from eeon_tools.experiment.report.rendered import Rendered, rendered

PAGE = "README.md"
DATA = "data"
CLAIMS = "claims.json"
SIZE_LIMIT_BYTES = 1_000_000
"""No file beside the page is larger: they are committed."""
_FORMAT = 1


def page(families: Sequence[Family], command: str) -> str:
    """The page's Markdown, which names its drawings and draws none."""
    return markdown.render(document(families, _drawn(families), command, DATA))


def files(families: Sequence[Family], command: str) -> dict[str, str]:
    """Path from the page's folder to text, of the page, its drawings and the claims: the same families, the
    same texts."""
    found = {PAGE: page(families, command)}
    for pictures in _drawn(families).values():
        found |= {one.file: one.text for one in pictures if one.text}
    found[f"{DATA}/{CLAIMS}"] = claims_json(families)
    return found


def claims_json(families: Sequence[Family]) -> str:
    """The claims for machines, as text."""
    return json.dumps(summary(families), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def web_page(families: Sequence[Family], command: str) -> str:
    """Everything as one HTML page that needs no other file."""
    return webpage.render(document(families, _drawn(families), command, DATA, inline=True))


def _drawn(families: Sequence[Family]) -> dict[str, list[Rendered]]:
    return {family.name: rendered(family) for family in families}


def write(families: Sequence[Family], folder: Path, command: str) -> list[Path]:
    """Write the page and all beside it, over what was there of the same names. Returns what was written.

    Raises InputError for a file above the limit, before anything is written.
    """
    contents = {path: text.encode() for path, text in files(families, command).items()}
    for family in families:
        places = {family.name: family.results}
        if family.scaled_down is not None:
            places[family.scaled_down.name] = family.scaled_down
        for place, source in places.items():
            for name in (store.ROWS, store.MANIFEST):
                if (source / name).is_file():
                    contents[f"{DATA}/{place}/{name}"] = (source / name).read_bytes()
    for path, content in contents.items():
        if len(content) > SIZE_LIMIT_BYTES:
            raise InputError(
                str(folder / path),
                "",
                f"would have {len(content):,} bytes; the limit is {SIZE_LIMIT_BYTES:,}",
            )
    written = []
    for path, content in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        store.write_atomically(target, content)
        written.append(target)
    return written


def summary(families: Sequence[Family]) -> dict[str, Any]:
    """The claims for machines."""
    return {
        "format": _FORMAT,
        "experiments": {
            family.name: {
                "quick": family.quick,
                "runs": len(family.runs),
                "planned": family.planned,
                "failed": len(family.failures),
                "seeds": family.runs.seeds(),
                "commits": list(family.commits),
                "program_digest": family.program_digest,
                "engine_digest": family.engine_digest,
            }
            for family in families
        },
        "claims": [
            {
                "id": claim.id,
                "experiment": family.name,
                "statement": claim.statement,
                "where": claim.where,
                "outcome": claim.outcome,
                "measured": claim.measured,
                "numbers": _finite(claim.numbers),
                "scaled_down": asdict(claim.scaled_down) if claim.scaled_down else None,
                "reason": claim.finding.reason if claim.finding else None,
                "evidence": claim.finding.evidence if claim.finding else None,
            }
            for family in families
            for claim in family.claims
        ],
    }


def _finite(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}
