"""The site has every document once, and its builder detects faults. `make site` checks all of it."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release" / "site"))

import build  # noqa: E402

NOT_OURS = {".venv", ".git", ".github", ".tools", "out", "target", ".pytest_cache"}
FOR_A_FOLDER = {
    *("release/eeon", "release/site", "tools/eeon_tools/data", "engine/simple_switch", "engine/units"),
    *("engine/simple_switch/tests/constructs", "experiments/eeon_experiments/workloads/sizes"),
}
"""Folders whose texts are for readers of the folder, or of the package."""


def documents(folder: Path = ROOT) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in NOT_OURS:
            yield from documents(path)
        elif path.suffix == ".md" and str(path.parent.relative_to(ROOT)) not in FOR_A_FOLDER:
            yield str(path.relative_to(ROOT))


def test_every_document_is_in_one_section() -> None:
    assert sorted(build.documents()) == sorted(documents())


def test_links_to_pages_stay_links_and_others_become_their_text(tmp_path: Path) -> None:
    prose = (
        "[a](../models/tcp.md#scope) [b](../../Makefile) [c](https://x.org) [d](../results/aqm.md#claim-q1)"
        "\n```\n[e](../../Makefile)\n```\n[f](../../Makefile)"
    )
    assert build._of_site("docs/run/show.md", prose, tmp_path) == (
        "[a](../../docs/models/tcp.md#scope) b [c](https://x.org)"
        ' <a href="../../docs/results/aqm.html#claim-q1">d</a>\n```\n[e](../../Makefile)\n```\nf'
    )


def test_a_dead_link_a_missing_place_and_what_is_fetched_from_outside_are_faults(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="there">')
    (tmp_path / "page.html").write_text(
        '<a href="other.html#there">1</a> <a href="other.html#gone">2</a> <a href="gone.html">3</a>'
        '<script src="https://cdn.example/x.js"></script> <a href="https://example.org">4</a>'
    )
    (tmp_path / "style.css").write_text("@font-face { src: url(https://fonts.example/x.woff2) }")
    assert list(build.faults(tmp_path)) == [
        "page.html: fetches https://cdn.example/x.js",
        "page.html: other.html#gone: no such place",
        "page.html: gone.html: no such file",
        "style.css: fetches https://fonts.example/x.woff2",
    ]
