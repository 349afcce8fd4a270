"""Progress bars: names chosen by users, and what is left in a file."""

from pathlib import Path

import pytest
from eeon_tools.cli.support import ProgressText, counted_progress, packet_progress
from rich.progress import Progress


@pytest.mark.parametrize("name", ["leaf1:100:.eeontrace", "[red]a", "[/]", ":smile:"])
def test_name_in_a_progress_bar_is_neither_markup_nor_emoji(name):
    progress = Progress()
    progress.add_task(f"replaying {name}")
    task = progress.tasks[0]
    assert ProgressText("{task.description}").render(task).plain == f"replaying {name}"


def test_progress_bars_have_no_words_but_those():
    root = Path(__file__).parents[2]
    for folder in ("tools/eeon_tools", "experiments/eeon_experiments"):
        for path in (root / folder).rglob("*.py"):
            assert "TextColumn(" not in path.read_text().replace("class ProgressText(TextColumn):", ""), path


def test_a_progress_bar_that_goes_away_leaves_nothing_in_a_file(capfd):
    with packet_progress("replaying") as packets_done, counted_progress("drawing", 3, "pages") as update:
        packets_done(2)
        update(completed=2)
    assert capfd.readouterr().err == ""
