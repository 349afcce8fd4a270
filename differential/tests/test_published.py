"""The long run that conformance.md describes: its table has the sums of its record."""

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "differential/records/2026-11-23.jsonl.xz"
PAGE = ROOT / "docs/develop/conformance.md"
COLUMNS = ("cases", "frames", "calls", "registers", "counters", "excluded", "differences")


@pytest.fixture(scope="module")
def record() -> list[str]:
    with lzma.open(RECORD, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def test_the_rows_of_the_table_are_sums_of_the_record(record):
    sums: dict[str, Counter[str]] = {}
    total: Counter[str] = Counter()
    for line in record[1:]:
        done = json.loads(line)
        counts = Counter({column: done[column] for column in COLUMNS})
        sums.setdefault(f"`{done['program']}`", Counter()).update(counts)
        total.update(counts)
    sums["all"] = total

    _, _, rows = PAGE.read_text(encoding="utf-8").partition("| program | cases |")
    table = {
        cells[0]: [int(cell.replace(" ", "")) for cell in cells[1:]]
        for cells in (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in rows.partition("\n\n")[0].splitlines()[2:]
        )
    }

    of_record = {name: [counts[column] for column in COLUMNS] for name, counts in sums.items()}
    assert table == {name: of_record[name] for name in table}
    assert {"`eeon`", "`eeon, held`", "`eeon, P4Runtime`", "all"} <= table.keys()


def test_the_text_names_the_versions_and_the_size_of_the_run(record):
    campaign = json.loads(record[0])
    cases = sum(json.loads(line)["cases"] for line in record[1:])
    text = " ".join(PAGE.read_text(encoding="utf-8").split())

    assert f"digest of the engine's sources `{campaign['engine'][:12]}`" in text
    assert f"BMv2 {campaign['bmv2']}, seed {campaign['seed']}" in text
    assert f"{cases:,} cases in {len(record) - 1:,} configurations".replace(",", " ") in text


def test_no_configuration_was_compared_twice(record):
    configurations = Counter((done["program"], done["configuration"]) for done in map(json.loads, record[1:]))

    assert [which for which, times in configurations.items() if times > 1] == []
