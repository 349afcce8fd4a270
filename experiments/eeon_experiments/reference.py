"""The reference in docs/experiments.md: keys of experiments, runs and searches, and columns, as Markdown.

`python -m eeon_experiments.reference FILE` writes it between the page's markers.
"""

import sys
from pathlib import Path

from eeon_control import schemas
from eeon_control.reference import Tables, into

from eeon_experiments import columns
from eeon_experiments.files import ExperimentFile
from eeon_experiments.results import SIGNIFICANT_DIGITS
from eeon_experiments.settings import RunSettings
from eeon_experiments.tune.attack import AttackFile
from eeon_experiments.tune.files import TuneFile

_TABLES = Tables(
    units={"GHz": "clock rate", "KiB/s": "bytes per second"}, elsewhere={"Eee": "run/configuration.md"}
)
_TYPES = {"text": "text", "whole": "whole number", "number": "number", "flag": "true or false"}


def reference() -> str:
    """Returns the part of the page that is generated from the code."""
    parts = ["### The experiment file", *_TABLES.of(schemas.of_model(ExperimentFile, ""))]
    parts += ["### Settings of a run", *_TABLES.of(schemas.of_model(RunSettings, ""))]
    parts += ["### The tune file", *_TABLES.of(schemas.of_model(TuneFile, ""))]
    parts += ["### The attack file", *_TABLES.of(schemas.of_model(AttackFile, ""))]
    parts += ["### Columns", f"Numbers have {SIGNIFICANT_DIGITS} significant digits.", _columns()]
    return "\n\n".join(parts)


def _columns() -> str:
    rows = ["| column | type | meaning |", "|---|---|---|"]
    rows += [_row(one) for one in columns.IDENTITY]
    rows.append(f"| `{columns.AXIS}NAME` | text | value of each axis; empty where a sweep does not use it |")
    rows += [_row(one) for one in columns.MEASURED]
    return "\n".join(rows)


def _row(column: columns.Column) -> str:
    return f"| `{column.name}` | {_TYPES[column.type]} | {column.meaning} |"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(into(path.read_text(encoding="utf-8"), reference()), encoding="utf-8")
    print(path)
