"""The engine's package, where it is installed: traces can be read without it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from eeon_tools.errors import InputError, UnavailableError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def load_engine() -> ModuleType:
    """Returns the engine's module. Raises UnavailableError, which says how to get it."""
    try:
        import eeon_engine
    except ImportError as error:
        raise UnavailableError(
            f"the engine is not installed ({error}); `make setup` builds it into .venv"
        ) from error
    return eeon_engine


def refused(name: str | Path, error: Exception) -> InputError:
    """Returns the error for a program that the engine does not take, and what writes one."""
    text = str(error)
    is_other = "not JSON" in text or "not a BMv2 program" in text
    wanted = "; give the BMv2 JSON that p4c-bm2-ss -o writes" if is_other else ""
    return InputError(name, "", f"the engine cannot run it: {text}{wanted}")
