"""Known vulnerabilities of the pinned Rust and Python packages, by cargo-audit and pip-audit.

Fails when one is known. Where a tool is not installed or its database cannot be reached, nothing was checked:
that is said, and does not fail, because a build without a network must go on. CI shows the lines.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_SECONDS = 300


class NotChecked(Exception):
    """Nothing can be said about the packages, and why."""


def of_cargo(report: dict[str, Any]) -> list[str]:
    """Returns what `cargo audit --json` found."""
    return [
        f"{crate['name']} {crate['version']}: {advisory['id']} {advisory['title']}"
        for one in report["vulnerabilities"]["list"]
        for crate, advisory in [(one["package"], one["advisory"])]
    ]


def of_pip(report: dict[str, Any]) -> list[str]:
    """Returns what `pip-audit -f json` found. It skips packages that its database has no answer for."""
    packages = report["dependencies"]
    if all("skip_reason" in one for one in packages):
        raise NotChecked("its database answered about no package")
    return [
        f"{one['name']} {one['version']}: {found['id']}" for one in packages for found in one.get("vulns", [])
    ]


def check(command: Sequence[str], read: Callable[[dict[str, Any]], list[str]]) -> list[str]:
    """Runs a tool that prints JSON. Raises NotChecked when it does not."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        report = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise NotChecked(f"no answer within {_SECONDS} s") from None
    except ValueError:
        last = (done.stderr.strip() or "it printed nothing").splitlines()[-1]
        raise NotChecked(f"no report: {last}") from None
    return read(report)


def main() -> int:
    """Checks both. Returns the exit code: 1 when a vulnerability is known."""
    cargo = ["cargo", "audit", "--json", "--file", "engine/Cargo.lock"]
    pip = [sys.executable, "-m", "pip_audit", "--requirement", "constraints.txt", "--no-deps"]
    pip += ["--disable-pip", "--format", "json"]
    tools = [
        ("Rust", cargo, of_cargo, shutil.which("cargo-audit"), "cargo install cargo-audit --locked"),
        ("Python", pip, of_pip, find_spec("pip_audit"), ".venv/bin/pip install pip-audit"),
    ]
    known = 0
    for what, command, read, there, install in tools:
        try:
            if not there:
                raise NotChecked(f"the tool is not installed: {install}")
            found = check(command, read)
        except NotChecked as why:
            print(f"{what} packages: NOT CHECKED for known vulnerabilities: {why}")
            continue
        known += len(found)
        print(f"{what} packages: {len(found)} known vulnerabilities", *found, sep="\n  ")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
