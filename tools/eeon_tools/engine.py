"""The engine's package, if it is installed: traces can be read without it."""

from __future__ import annotations

import functools
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from eeon_tools.errors import InputError, UnavailableError
from eeon_tools.json_files import content_of

if TYPE_CHECKING:
    from eeon_engine import Program

_MAX_PROGRAM_BYTES = 64 << 20


def load_engine() -> ModuleType:
    """Returns the engine's module. Raises UnavailableError, which says how to install it."""
    try:
        import eeon_engine
    except ImportError as error:
        raise UnavailableError(
            f"the engine is not installed ({error}); `make setup` builds it into .venv"
        ) from error
    return eeon_engine


@functools.lru_cache(maxsize=2)
def load_program(json: bytes, *, for_tracing: bool = False) -> Program:
    """Loads a BMv2 JSON. The same JSON gives the same program, which twins and switches may share.

    Raises UnavailableError without an engine, and the engine's ProgramError.
    """
    program: Program = load_engine().Program(json, for_tracing=for_tracing)
    return program


def read_program(path: Path, *, for_tracing: bool = False) -> tuple[bytes, Program]:
    """Returns a file with a BMv2 JSON, and its program. Raises InputError, and UnavailableError without an
    engine."""
    json = content_of(path, _MAX_PROGRAM_BYTES, "; p4c-bm2-ss -o writes a BMv2 JSON")
    try:
        return json, load_program(json, for_tracing=for_tracing)
    except load_engine().EngineError as error:
        # The engine's loader names the error in a file, and its position.
        raise InputError(path, "", f"the engine cannot run it: {error}") from error
