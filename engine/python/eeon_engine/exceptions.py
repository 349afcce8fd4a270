"""Exceptions of the engine and its Python layers. The extension raises these classes.

Messages name the object, the value and the limit.
"""


class EngineError(Exception):
    """Base class of the engine's exceptions."""


class ProgramError(EngineError, ValueError):
    """A BMv2 JSON program that cannot be loaded. The text has the place in it, and what is valid."""


class ConfigError(EngineError, ValueError):
    """Settings of a switch or of a fabric that contradict each other or refer to missing objects."""


class ClockError(EngineError, ValueError):
    """A request to run virtual time backwards."""


class ControlError(EngineError):
    """A refused control call. The switch is as it was before the call.

    `code` is BMv2's name for the error, for example `INVALID_HANDLE`; `ERROR` if it has none.
    """

    def __init__(self, message: str = "", code: str = "ERROR") -> None:
        super().__init__(message)
        self.code = code


class NoSuchObjectError(ControlError, LookupError):
    """No table, action profile, counter, register, ... has this name."""


class NoSuchHandleError(ControlError, LookupError):
    """No entry, member or group has this handle."""


class DuplicateError(ControlError):
    """An entry with the same key (and priority) already exists."""


class FullError(ControlError):
    """The object has as many entries as the program allows."""


class ImmutableError(ControlError):
    """The program declares the object constant."""


class InUseError(ControlError):
    """Another object still refers to this object."""


class OutOfRangeError(ControlError, IndexError):
    """An index beyond the end of an array."""


class InvalidValueError(ControlError, ValueError):
    """A key, parameter or value that does not match the object."""
