"""The place of the compiled program: in an installed wheel, or in the repository's work tree."""

from pathlib import Path

_PTF_TESTS = Path(__file__).resolve().parents[1]
_PACKAGED = _PTF_TESTS / "_data" / "p4src"

INSTALLED = _PACKAGED.is_dir()
"""Whether these tests are from a wheel."""
COMPILED = _PACKAGED if INSTALLED else _PTF_TESTS.parent / "p4src" / "compiled"
"""The folder of eeon.json, its P4Info and constants.json."""
OUTPUT = Path("out/ptf") if INSTALLED else _PTF_TESTS.parent / "out" / "ptf"
"""The folder for ptf's logs, with a folder for each target; for a wheel, in the working folder."""
