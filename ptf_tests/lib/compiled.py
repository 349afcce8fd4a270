"""Where the compiled program is: in an installed wheel, or in the repository's work tree."""

from pathlib import Path

_PTF_TESTS = Path(__file__).resolve().parents[1]
_PACKAGED = _PTF_TESTS / "_data" / "p4src"

INSTALLED = _PACKAGED.is_dir()
"""Whether these tests come out of a wheel."""
COMPILED = _PACKAGED if INSTALLED else _PTF_TESTS.parent / "p4src" / "compiled"
"""The folder of eeon.json, its P4Info and the program's numbers."""
OUTPUT = Path("out/ptf") if INSTALLED else _PTF_TESTS.parent / "out" / "ptf"
"""Where ptf's logs go, a folder for each target; of a wheel, below the caller's folder."""
