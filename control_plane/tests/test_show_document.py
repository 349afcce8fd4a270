"""docs/run/show.md shows the output of its commands."""

import pytest

pytest.importorskip("eeon_engine._engine", reason="the engine's extension is not installed")

from show_document import PAGE, agree, blocks, fabric, headings, typed

pytestmark = pytest.mark.system


def test_every_command_of_show_md_prints_what_the_page_shows():
    found = blocks(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 8
    with fabric():
        for command, shown in found:
            printed = typed(command)
            assert agree(command, shown, printed), (
                f"{command}: run `python control_plane/tests/show_document.py`:\n{printed}"
            )


def test_a_column_that_the_page_lacks_is_noticed_also_where_numbers_change():
    shown = "EEE, over 1.03 s\nport     mode\nleaf1:1  coalesce 5\n"
    assert headings(shown) == ["port", "mode"]
    other = "EEE, over 2 s\nport     mode  wakes\nleaf1:1  coalesce  2\n"
    assert not agree("eeon show eee --rate 1s", shown, other)
    assert agree("eeon show eee --rate 1s", shown, shown.replace("5", "7"))
    assert not agree("eeon show ports", "port  sent\n", "port  sent  why\n")
