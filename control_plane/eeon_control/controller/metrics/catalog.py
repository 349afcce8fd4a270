"""The catalogue of metrics, read from catalog.toml. The exporter, the docs and the tests use it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eeon_control.energy import assumed


@dataclass(frozen=True)
class Family:
    """One metric. `resets`: for a counter, when it restarts at 0."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str
    resets: str = ""


_RESETS = {
    "": "",
    "switch": "when the switch restarts or its program is loaded",
    "controller": "when the controller restarts",
    "never": "never: its value is in the state folder",
}


def _read() -> dict[str, Family]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    assumptions = "; ".join(assumed())
    return {
        f"eeon_{name}": Family(
            f"eeon_{name}",
            of["kind"],
            tuple(of.get("labels", ())),
            of["help"].replace("{assumed}", assumptions),
            _RESETS[of.get("resets", "")],
        )
        for name, of in tomllib.loads(text).items()
    }


CATALOG: dict[str, Family] = _read()


def as_markdown() -> str:
    """Returns the catalogue as the table of docs/run/controller.md."""
    lines = ["| metric | labels | meaning |", "|---|---|---|"]
    for family in CATALOG.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        text = family.help.replace("|", "\\|")
        resets = f" Resets {family.resets}." if family.resets else ""
        lines.append(f"| `{family.name}` | {labels} | {family.kind}. {text}{resets} |")
    return "\n".join(lines) + "\n"
