"""Runs the targets: `python -m server_fuzz fuzz TARGET`, `minimise TARGET`, `run TARGET FILE...`.

`fuzz` and `minimise` need atheris, a development tool, which PyPI has for Linux on x86-64 and for macOS.
"""

import argparse
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from . import corpora

_MAX_LENGTH = 1500


def main() -> int:
    """Runs the command, and returns the exit status: 0 if it found nothing."""
    arguments = _parser().parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    return int(arguments.do(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="server_fuzz", description="Fuzz the P4Runtime and Thrift servers.")
    commands = parser.add_subparsers(required=True)
    fuzz = commands.add_parser("fuzz", help="fuzz one target for some time")
    fuzz.add_argument("target")
    fuzz.add_argument("--seconds", type=int, default=60)
    fuzz.set_defaults(do=_fuzz)
    minimise = commands.add_parser("minimise", help="keep a target's inputs that add coverage, and pack them")
    minimise.add_argument("target")
    minimise.set_defaults(do=_minimise)
    libfuzzer = commands.add_parser("libfuzzer", help="run libFuzzer with options of its own")
    libfuzzer.add_argument("target")
    libfuzzer.add_argument("command", nargs=argparse.REMAINDER)
    libfuzzer.set_defaults(do=lambda arguments: _libfuzzer(arguments.target, arguments.command))
    run = commands.add_parser("run", help="run a target with the bytes of files")
    run.add_argument("target")
    run.add_argument("file", type=Path, nargs="+")
    run.set_defaults(do=_run)
    return parser


def _target(name: str) -> Callable[[bytes], None]:
    # Only modules first imported here are instrumented.
    from .targets import TARGETS

    if name not in TARGETS:
        sys.exit(f"{name}: no such target; there are {', '.join(TARGETS)}")
    return TARGETS[name]


def _run(arguments: argparse.Namespace) -> int:
    target = _target(arguments.target)
    for file in arguments.file:
        try:
            content = file.read_bytes()
        except OSError as error:
            sys.exit(f"{file}: not read: {error.strerror}; give a file with an input")
        target(content)
        print(f"{file}: nothing found")
    return 0


def _fuzz(arguments: argparse.Namespace) -> NoReturn:
    findings = corpora.ENGINE_FUZZ / "artifacts" / arguments.target
    findings.mkdir(parents=True, exist_ok=True)
    folder = corpora.FOLDERS / arguments.target
    _libfuzzer(
        arguments.target,
        [
            sys.argv[0],
            str(folder),
            f"-max_total_time={arguments.seconds}",
            "-timeout=20",
            "-rss_limit_mb=1500",
            f"-max_len={_MAX_LENGTH}",
            f"-artifact_prefix={findings}/",
            "-print_final_stats=1",
        ],
    )


def _minimise(arguments: argparse.Namespace) -> int:
    folder = corpora.FOLDERS / arguments.target
    with tempfile.TemporaryDirectory() as scratch:
        # libFuzzer starts itself again for each part of the inputs, by the name of its own command.
        again, kept = Path(scratch, "again"), Path(scratch, "kept")
        kept.mkdir()
        again.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m server_fuzz libfuzzer {arguments.target} "$0" "$@"\n'
        )
        again.chmod(0o700)
        subprocess.run([again, "-merge=1", kept, folder], check=True)
        corpora.keep(arguments.target, kept)
    return 0


def _libfuzzer(target: str, command: list[str]) -> NoReturn:
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: `pip install atheris`; it has wheels for few platforms")
    with atheris.instrument_imports(include=["eeon_engine"]):
        run = _target(target)
    if not (corpora.FOLDERS / target).is_dir():
        corpora.unfold(target)
    atheris.Setup(command, run)
    atheris.Fuzz()
    raise AssertionError("libFuzzer ends the process")


if __name__ == "__main__":
    raise SystemExit(main())
