"""Tables of `eeon replay` and similar commands: as wide as the terminal, and with all their columns."""

import pytest
from eeon_control.cli.terminal import Terminal
from eeon_tools.tables import Rows

HEADINGS = [f"column {number}" for number in range(11)]


def shown(columns: int) -> str:
    rows = [
        ("mark_threshold", *(f"{1000 * number:,}" for number in range(11))),
        ("[codel]", *(f"{number}" for number in range(11))),
    ]
    terminal = Terminal()
    terminal.width = columns
    with terminal.capture() as captured:
        Rows(("setting", *HEADINGS), rows, title="a title").show(terminal)
    return captured.get()


@pytest.mark.parametrize("columns", [60, 80, 127])
def test_no_line_is_wider_than_the_terminal_and_no_column_is_lost(columns):
    text = shown(columns)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= columns
    assert all(text.count(f"column {number} ") + text.count(f"column {number}\n") for number in range(11))
    assert "10,000" in text and text.count("a title") == 1
    assert text.count("mark_threshold") == text.count("[codel]") == text.count("setting") > (columns < 127)


def test_where_all_fits_there_is_one_table():
    assert shown(200).count("setting") == 1
