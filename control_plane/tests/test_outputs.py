"""Files that commands write."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from eeon_control.outputs import write_text


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """Lets no file grow beyond `size` bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_an_existing_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_text(path, "old")
    with full_after(10), pytest.raises(OSError, match="File too large"):
        write_text(path, "new" * 100)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("run.json", "old")]


def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    path, link = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    write_text(link, "newest")
    assert link.is_symlink() and path.read_text() == "newest"


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_text(tmp_path / "missing" / "run.json", "new")
    assert error.value.filename == str(tmp_path / "missing" / "run.json")


def test_what_is_no_file_is_written_itself() -> None:
    write_text(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
