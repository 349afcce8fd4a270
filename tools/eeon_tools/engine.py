"""The engine's package, if it is installed: traces can be read without it."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from eeon_tools.errors import UnavailableError

if TYPE_CHECKING:
    from eeon_engine import Program


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
