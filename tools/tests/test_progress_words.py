"""Names chosen by users, in the text of a progress bar."""

from pathlib import Path

import pytest
from eeon_tools.cli.support import ProgressText
from rich.progress import Progress


@pytest.mark.parametrize("name", ["leaf1:100:.eeontrace", "[red]a", "[/]", ":smile:"])
def test_name_in_a_progress_bar_is_neither_markup_nor_emoji(name):
    progress = Progress()
    progress.add_task(f"replaying {name}")
    task = progress.tasks[0]
    assert ProgressText("{task.description}").render(task).plain == f"replaying {name}"


def test_progress_bars_have_no_words_but_those():
    root = Path(__file__).parents[2]
    sources = [
        p
        for folder in ("tools/eeon_tools", "experiments/eeon_experiments")
        for p in (root / folder).rglob("*.py")
    ]
    assert [
        p.name
        for p in sources
        if "TextColumn(" in p.read_text().replace("class ProgressText(TextColumn):", "")
    ] == []
