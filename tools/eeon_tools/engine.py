"""The engine's package, if it is installed: traces can be read without it."""

from __future__ import annotations

from types import ModuleType

from eeon_tools.errors import UnavailableError


def load_engine() -> ModuleType:
    """Returns the engine's module. Raises UnavailableError, which says how to install it."""
    try:
        import eeon_engine
    except ImportError as error:
        raise UnavailableError(
            f"the engine is not installed ({error}); `make setup` builds it into .venv"
        ) from error
    return eeon_engine
