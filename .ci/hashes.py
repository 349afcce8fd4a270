"""Digests of the files that pip takes for the pins of constraints.txt, for `pip install --require-hashes`.

    .ci/hashes.py            asks pip, which asks its registry, and writes constraints-hashed.txt
    .ci/hashes.py --check    fails unless that file has exactly the pins of constraints.txt; asks nobody

The file is for CPython 3.11 on Linux x86-64. It names no registry.
"""

import json
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS, HASHED = ROOT / "constraints.txt", ROOT / "constraints-hashed.txt"
PLATFORM = ("CPython", "3.11", "Linux", "x86_64")
_SECONDS = 1800
_HEADER = """\
# The pins of constraints.txt with the SHA-256 of the one file that pip takes for each with CPython 3.11 on
# Linux x86-64. `make hashes` writes it after a change of constraints.txt; `make packages-hashed` installs it.
"""


def pins(text: str) -> dict[str, str]:
    """Returns the version by normalised name (PEP 503) of lines such as `name==1.0`, whatever follows."""
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    return {_normalised(name): version for name, version in found}


def hashed(report: str) -> str:
    """Returns the file made of a report of `pip install --dry-run --report`."""
    lines = []
    for one in json.loads(report)["install"]:
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        name, version = one["metadata"]["name"], one["metadata"]["version"]
        lines.append(f"{_normalised(name)}=={version} --hash=sha256:{digest}")
    return _HEADER + "\n".join(sorted(lines)) + "\n"


def differences(pinned: str, with_hashes: str) -> list[str]:
    """Returns what the two files do not agree on."""
    meant, found = pins(pinned), pins(with_hashes)
    return [
        f"{name}: constraints.txt has {meant.get(name)}, constraints-hashed.txt {found.get(name)}"
        for name in sorted(meant.keys() | found.keys())
        if meant.get(name) != found.get(name)
    ]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Returns the exit status: 1 when the files differ, 2 on another platform."""
    if "--check" in sys.argv[1:]:
        found = differences(PINS.read_text(), HASHED.read_text())
        print("\n".join(found) or "constraints-hashed.txt has the pins of constraints.txt")
        return int(bool(found))
    here = (
        platform.python_implementation(),
        ".".join(platform.python_version_tuple()[:2]),
        platform.system(),
        platform.machine(),
    )
    if here != PLATFORM:
        print(f"this is {' '.join(here)}; the file is for {' '.join(PLATFORM)}")
        return 2
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
    command += ["--ignore-installed", "--no-deps", "--report", "-", "--requirement", str(PINS)]
    report = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=_SECONDS)
    HASHED.write_text(hashed(report.stdout))
    return 0


if __name__ == "__main__":
    sys.exit(main())
