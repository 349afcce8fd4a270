"""An environment with only the wheels and packages from registries."""

import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "out" / "wheels"
FROM_WHEELS = ("--find-links", str(WHEELS), "--constraint", str(ROOT / "constraints.txt"), "eeon[ptf]")


@dataclass(frozen=True)
class Fresh:
    """An environment without this repository, and a working folder."""

    environment: Path
    folder: Path
    install_cpu_seconds: float

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of the environment, without access to a compiler or the repository."""
        return subprocess.run(
            [str(self.environment / "bin" / words[0]), *words[1:]],
            cwd=self.folder, env=variables(), capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip


def cpu_seconds() -> float:
    """Returns the processor time of all children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def variables() -> dict[str, str]:
    """Returns the variables of a new user's shell, with this machine's registry settings of pip and uv."""
    of_registries = ("PIP_", "UV_", "SSL_", "http", "HTTP")
    kept = {name: value for name, value in os.environ.items() if name.startswith(of_registries)}
    return {
        **kept,
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "COLUMNS": "140",
    }
